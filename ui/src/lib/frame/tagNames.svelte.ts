// Names of tags by id, for rows that know only the id of theirs. Of a long list, only the names of
// rows that are looked at are asked for: those that were scrolled past within a moment are not.

import { SvelteMap } from "svelte/reactivity";
import { get } from "../api/client";

/** Rows that are scrolled past are there for less, in milliseconds. */
const A_MOMENT = 60;

export class TagNames {
  #known = new SvelteMap<number, string>();
  #wanted = new Set<number>();
  #asked = new Set<number>();
  #late: ReturnType<typeof setTimeout> | undefined;

  /** The name of a tag; empty until it is known. */
  of(id: number): string {
    return this.#known.get(id) ?? "";
  }

  /** Asks for the name of a tag, unless what wants it is gone at once: then call what it answers. */
  want(id: number): () => void {
    if (!this.#asked.has(id)) {
      this.#wanted.add(id);
      if (this.#late === undefined) this.#late = setTimeout(() => this.#ask(), A_MOMENT);
    }
    return () => this.#wanted.delete(id);
  }

  #ask(): void {
    this.#late = undefined;
    for (const id of this.#wanted) {
      this.#asked.add(id);
      get("/tags/{id}", { id })
        .then(({ name }) => this.#known.set(id, name))
        // It was deleted, or this connection may not read it.
        .catch(() => this.#known.set(id, `Tag ${id}`));
    }
    this.#wanted.clear();
  }
}
