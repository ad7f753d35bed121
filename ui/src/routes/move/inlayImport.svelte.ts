// The import of inlays, which survives its step and its screen.

import { perConnection } from "../../lib/api/connection.svelte";
import { ImportRun } from "../../lib/tables/importRun.svelte";

class InlayImport extends ImportRun {
  /** The name of the chosen preset; empty for the first one. */
  preset = $state("");
  /** The id of the master key, if the file has no keys; empty without one. */
  master = $state("");

  /** The import of the service that is connected now, also after a switch. */
  get own(): this {
    return this;
  }
}

/** A file is chosen for one service: another service neither shows nor imports it. */
export const inlayImport = perConnection(() => new InlayImport());
