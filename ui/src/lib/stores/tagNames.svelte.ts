// Names of tags by id, for rows that have only the id. In a long list, names are loaded only for
// visible rows, and not for rows that are scrolled past.

import { SvelteMap } from "svelte/reactivity";
import { get } from "../api/client";

/** Time in milliseconds: rows that are scrolled past are visible for less. */
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

  /** Loads the name of a tag, unless the returned function is called at once. */
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
        // The tag was deleted, or this connection may not read it.
        .catch(() => this.#known.set(id, `Tag ${id}`));
    }
    this.#wanted.clear();
  }
}
