// The import of tags, which outlives its dialog and the screen of the tags.

import { router } from "../../lib/frame/router.svelte";
import { perConnection } from "../../lib/shell/connection.svelte";
import { ImportRun } from "./importRun.svelte";

class TagImport extends ImportRun {
  /** Whether its dialog is open. */
  open = $state(false);
  /** How many imports came to an end, each with what it made. */
  ended = $state(0);

  /** That of the service that is connected now, also after a switch. */
  get own(): this {
    return this;
  }
}

/** A file is chosen for one service: another one neither shows nor imports it. */
export const tagImport = perConnection(() => new TagImport());

/** Leads to the dialog. */
export function showImport(): void {
  if (router.place.screen !== "tags") router.go("tags");
  tagImport.open = true;
}
