// The import of inlays, which outlives its step and its screen.

import { perConnection } from "../../lib/shell/connection.svelte";
import { ImportRun } from "../tags/importRun.svelte";

class InlayImport extends ImportRun {
  /** The name of the preset that was chosen; empty for the first one. */
  preset = $state("");
  /** The id of the master key, if the file has no keys; empty without one. */
  master = $state("");

  /** That of the service that is connected now, also after a switch. */
  get own(): this {
    return this;
  }
}

/** A file is chosen for one service: another one neither shows nor imports it. */
export const inlayImport = perConnection(() => new InlayImport());
