// What was looked at last, for the palette.

import { shell } from "../shell/shell.svelte";

const KEPT = 5;

export interface Recent {
  screen: "tags" | "experiences" | "inlays" | "templates";
  id: number;
  name: string;
}

class RecentThings {
  /** Newest first; those of each connection apart. */
  #all = $state.raw<Record<string, Recent[]>>({});

  /** Those of the connected service, newest first. */
  get here(): readonly Recent[] {
    return this.#all[connection()] ?? [];
  }

  /** Takes note that a thing is looked at. */
  note(thing: Recent): void {
    const others = this.here.filter(({ screen, id }) => screen !== thing.screen || id !== thing.id);
    this.#all = { ...this.#all, [connection()]: [thing, ...others].slice(0, KEPT) };
  }
}

const connection = () => shell.ready?.connection.id ?? "";

export const recent = new RecentThings();
