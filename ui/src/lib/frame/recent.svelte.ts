// Recently opened things, for the palette.

import { shell } from "../shell/shell.svelte";

const KEPT = 5;

export interface Recent {
  screen: "tags" | "experiences" | "inlays" | "templates";
  id: number;
  name: string;
}

class RecentThings {
  /** Newest first, separately for each connection. */
  #all = $state.raw<Record<string, Recent[]>>({});

  /** The recent things of the connected service, newest first. */
  get here(): readonly Recent[] {
    return this.#all[connection()] ?? [];
  }

  /** Notes that a thing was opened. */
  note(thing: Recent): void {
    const others = this.here.filter(({ screen, id }) => screen !== thing.screen || id !== thing.id);
    this.#all = { ...this.#all, [connection()]: [thing, ...others].slice(0, KEPT) };
  }
}

const connection = () => shell.ready?.connection.id ?? "";

export const recent = new RecentThings();
