// One resource that others change, too: saved by what was changed here alone,
// on the version that was seen.

import { getVersion, patchVersion, Problem, type Query } from "./api/client";

/** How often a save is repeated after a change elsewhere that has nothing to do with it. */
const TRIES = 5;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The same member was changed here and elsewhere, each to something else. */
export class ChangedMeanwhile extends Error {
  constructor(words = "This was changed elsewhere in the meantime. Nothing was saved: compare, and save again.") {
    super(words);
  }
}

export class Resource<T extends object> {
  /** The resource as it is, as far as it is known. */
  now = $state.raw<T | null>(null);
  #etag: string | null = null;
  #saves = 0;

  constructor(readonly path: string) {}

  async load(): Promise<T> {
    const saves = this.#saves;
    const { value, etag } = await getVersion<T>(this.path);
    // What was asked for before a save may be older than what the save answered.
    if (saves !== this.#saves && this.now) return this.now;
    return this.#take(value, etag);
  }

  /**
   * Stores `changes`. A member that was changed elsewhere since it was seen is not
   * overwritten: what is stored is shown first, and another save decides.
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

  /** Takes back what a save changed, unless it was changed again since. */
  async undo(saved: T, former: Partial<T>): Promise<T> {
    const found = await this.load();
    const names = Object.keys(former) as (keyof T)[];
    if (names.some((name) => !same(found[name], saved[name]))) {
      throw new ChangedMeanwhile("It was changed again in the meantime, so it stays as it is now.");
    }
    return this.save(former);
  }

  #take(value: T, etag: string | null): T {
    this.#etag = etag;
    if (!same(this.now, value)) this.now = value;
    return value;
  }
}
