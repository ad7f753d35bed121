// A resource that others may change, too. A save sends only the changed members, with
// the version that was seen.

import { getVersion, patchVersion, Problem, type Query } from "./api/client";

/** Attempts to save if others keep changing other members: more would hide a busy loop. */
const TRIES = 5;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Somebody else changed the same member to another value. */
export class ChangedMeanwhile extends Error {
  constructor(words = "Somebody else changed this in the meantime. Nothing was saved. Compare the values, then save again.") {
    super(words);
  }
}

export class Resource<T extends object> {
  /** The last known state. */
  now = $state.raw<T | null>(null);
  #etag: string | null = null;
  #saves = 0;

  constructor(readonly path: string) {}

  async load(): Promise<T> {
    const saves = this.#saves;
    const { value, etag } = await getVersion<T>(this.path);
    // A request from before a save may return an older state than the save did.
    if (saves !== this.#saves && this.now) return this.now;
    return this.#take(value, etag);
  }

  /**
   * Saves `changes`. If somebody else changed one of these members since it was seen,
   * loads the resource and throws `ChangedMeanwhile`; the next save overwrites it.
   */
  async save(changes: Partial<T>, body: unknown = changes, query: Query = {}): Promise<T> {
    for (let tries = 1; ; tries++) {
      const seen = this.now;
      try {
        const { value, etag } = await patchVersion<T>(this.path, body, this.#etag, query);
        this.#saves++;
        return this.#take(value, etag);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "changed" || tries === TRIES) throw error;
        const found = await this.load();
        const names = Object.keys(changes) as (keyof T)[];
        if (seen && names.some((name) => !same(seen[name], found[name]) && !same(changes[name], found[name]))) throw new ChangedMeanwhile();
      }
    }
  }

  /** Restores `former` after a save, unless it was changed again since. */
  async undo(saved: T, former: Partial<T>): Promise<T> {
    const found = await this.load();
    const names = Object.keys(former) as (keyof T)[];
    if (names.some((name) => !same(found[name], saved[name]))) {
      throw new ChangedMeanwhile("It was changed again in the meantime. Nothing was undone.");
    }
    return this.save(former);
  }

  #take(value: T, etag: string | null): T {
    this.#etag = etag;
    if (!same(this.now, value)) this.now = value;
    return value;
  }
}
