// The import of inlays, which survives its step and its screen.

import { perConnection } from "../../lib/api/connection.svelte";
import { ImportRun } from "../../lib/tables/importRun.svelte";

export class InlayImport extends ImportRun {
  /** The chosen master keys by reel, if the file has no keys; empty for none. */
  #masters = $state<Record<number, string>>({});

  /** The import of the service that is connected now, also after a switch. */
  get own(): this {
    return this;
  }

  /** The master key of a reel: the chosen one, or the one that was `found` with its format. */
  masterFor(reel: number, found: string): string {
    return this.#masters[reel] ?? found;
  }

  chooseMaster(reel: number, master: string): void {
    this.#masters[reel] = master;
    this.edited();
  }
}

/** A file is chosen for one service: another service neither shows nor imports it. */
export const inlayImport = perConnection(() => new InlayImport());
