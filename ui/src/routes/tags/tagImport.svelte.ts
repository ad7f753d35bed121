// The import of tags, which survives its dialog and the screen of the tags.

import { router } from "../../lib/window/router.svelte";
import { perConnection } from "../../lib/api/connection.svelte";
import { ImportRun } from "../../lib/tables/importRun.svelte";

class TagImport extends ImportRun {
  /** Whether its dialog is open. */
  open = $state(false);
  /** The number of imports that have ended. */
  ended = $state(0);

  /** The import of the service that is connected now, also after a switch. */
  get own(): this {
    return this;
  }
}

/** A file is chosen for one service: another service neither shows nor imports it. */
export const tagImport = perConnection(() => new TagImport());

/** Opens the dialog. */
export function showImport(): void {
  if (router.place.screen !== "tags") router.go("tags");
  tagImport.open = true;
}
