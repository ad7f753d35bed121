// A resource that others may change, too. A save sends only the changed members, with the version
// that was loaded.

import { getVersion, patchVersion, Problem, type Version } from "../api/client";
import type { AnswerOf, BodyOf, ParametersOf, PathOf } from "../api/operations";

/** Attempts to save while others keep changing other members; more would hide an endless loop. */
const TRIES = 5;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Another person changed the same member to another value. */
export class ChangedMeanwhile extends Error {
  constructor(words = "Somebody else changed this in the meantime. Nothing was saved. Compare the values, then save again.") {
    super(words);
  }
}

// The types of a resource are those of its path: the class below has checked them.
const fetchVersion = getVersion as unknown as (path: string, parameters: object) => Promise<Version<never>>;
const sendVersion = patchVersion as unknown as (
  path: string,
  body: object,
  parameters: object,
  etag: string | null,
) => Promise<Version<never>>;

/** The paths of resources that can be loaded and changed. */
type Changeable = PathOf<"get"> & PathOf<"patch">;

export class Resource<P extends Changeable, T extends object = NonNullable<AnswerOf<P, "get">>> {
  /** The last known state. */
  now = $state.raw<T | null>(null);
  #etag: string | null = null;
  #saves = 0;

  constructor(
    readonly path: P,
    readonly parameters: ParametersOf<P, "get">,
  ) {}

  async load(): Promise<T> {
    const saves = this.#saves;
    const { value, etag } = await fetchVersion(this.path, this.parameters as object);
    // A request from before a save may return an older state than the save did.
    if (saves !== this.#saves && this.now) return this.now;
    return this.#take(value, etag);
  }

  /**
   * Saves `changes`, sent as `body`. If another person has changed one of these members in the
   * meantime, takes that over and throws `ChangedMeanwhile`; the next save overwrites it.
   */
  async save(changes: Partial<T>, body = changes as BodyOf<P, "patch">): Promise<T> {
    for (let tries = 1; ; tries++) {
      const seen = this.now;
      try {
        return await this.#patch(body, {});
      } catch (error) {
        if (tries === TRIES) throw error;
        const found = this.#current(error);
        const names = Object.keys(changes) as (keyof T)[];
        if (seen && names.some((name) => !same(seen[name], found[name]) && !same(changes[name], found[name]))) throw new ChangedMeanwhile();
      }
    }
  }

  /**
   * Acts on the state that was loaded. If it has changed, throws `ChangedMeanwhile`, and changes
   * nothing.
   */
  async act(query: Partial<ParametersOf<P, "patch">>): Promise<T> {
    try {
      return await this.#patch({} as BodyOf<P, "patch">, query);
    } catch (error) {
      this.#current(error);
      throw new ChangedMeanwhile("Somebody else changed this in the meantime. Nothing was changed. Look at it again.");
    }
  }

  /**
   * Restores `former`, sent as `body`, after a save, unless it was changed again in the meantime.
   */
  async undo(saved: T, former: Partial<T>, body = former as BodyOf<P, "patch">): Promise<T> {
    const found = await this.load();
    const names = Object.keys(former) as (keyof T)[];
    if (names.some((name) => !same(found[name], saved[name]))) {
      throw new ChangedMeanwhile("It was changed again in the meantime. Nothing was undone.");
    }
    return this.save(former, body);
  }

  async #patch(body: BodyOf<P, "patch">, query: Partial<ParametersOf<P, "patch">>): Promise<T> {
    const { value, etag } = await sendVersion(this.path, body as object, { ...(this.parameters as object), ...query }, this.#etag);
    this.#saves++;
    return this.#take(value, etag);
  }

  /** Takes over the state in the service's refusal of a save; throws other errors. */
  #current(error: unknown): T {
    if (!(error instanceof Problem) || error.code !== "changed" || !error.current) throw error;
    this.#saves++;
    return this.#take(error.current as T, error.etag);
  }

  #take(value: T, etag: string | null): T {
    this.#etag = etag;
    if (!same(this.now, value)) this.now = value;
    return value;
  }
}
