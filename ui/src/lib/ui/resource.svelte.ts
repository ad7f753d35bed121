// A resource that others may change, too. It is followed while a screen shows it. A save sends only
// the changed members, with the version that was loaded.

import type { About } from "../api/changes";
import { getVersion, patchVersion, Problem, type Version } from "../api/client";
import { Loadable, type Shown } from "../api/loadable";
import type { AnswerOf, BodyOf, ParametersOf, PathOf } from "../api/operations";
import { follow } from "../api/following";

/** Attempts to save while others keep changing other members; more would hide an endless loop. */
const TRIES = 5;

const same = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** The members of a resource that a form changes, or the values that it shows of them, by the names of its fields. */
type Fields<T> = Partial<T> | Record<string, string | null>;
const valueOf = (values: object, name: string): unknown => (values as Record<string, unknown>)[name];

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

export class Resource<P extends Changeable, T extends object = NonNullable<AnswerOf<P, "get">>> implements Shown<T> {
  readonly #loaded: Loadable<Version<T>>;

  constructor(
    readonly path: P,
    readonly parameters: ParametersOf<P, "get">,
  ) {
    // Events name the tag of an inlay, and not the inlay.
    const about = () => ({ tag_id: (this.#loaded.known?.value as About | undefined)?.tag_id, ...(parameters as About) });
    this.#loaded = new Loadable<Version<T>>(() => fetchVersion(path, parameters as object), {
      follow: (outdate) => follow(path, about, outdate),
    });
  }

  /** The last known state. */
  get now(): T | null {
    return this.#loaded.now?.value ?? null;
  }

  /** The reason why the last load failed; `null` if it succeeded. */
  get failure(): unknown {
    return this.#loaded.failure;
  }

  async load(): Promise<T> {
    return (await this.#loaded.load()).value;
  }

  /**
   * Saves `changes`, sent as `body`. If another person has changed one of these values in the
   * meantime, takes that over and throws `ChangedMeanwhile`; the next save overwrites it. The values
   * are members of the resource, or those that `valuesOf` finds in it.
   */
  async save(changes: Fields<T>, body = changes as BodyOf<P, "patch">, valuesOf: (state: T) => object = (state) => state): Promise<T> {
    for (let tries = 1; ; tries++) {
      const seen = this.#loaded.known?.value;
      try {
        return await this.#patch(body, {});
      } catch (error) {
        if (tries === TRIES) throw error;
        const found = this.#current(error);
        if (!seen) continue;
        const [before, now] = [valuesOf(seen), valuesOf(found)];
        const clashes = ([name, value]: [string, unknown]) =>
          !same(valueOf(before, name), valueOf(now, name)) && !same(value, valueOf(now, name));
        if (Object.entries(changes).some(clashes)) throw new ChangedMeanwhile();
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
  async undo(
    saved: T,
    former: Fields<T>,
    body = former as BodyOf<P, "patch">,
    valuesOf: (state: T) => object = (state) => state,
  ): Promise<T> {
    const [now, ours] = [valuesOf(await this.load()), valuesOf(saved)];
    if (Object.keys(former).some((name) => !same(valueOf(now, name), valueOf(ours, name)))) {
      throw new ChangedMeanwhile("It was changed again in the meantime. Nothing was undone.");
    }
    return this.save(former, body, valuesOf);
  }

  async #patch(body: BodyOf<P, "patch">, query: Partial<ParametersOf<P, "patch">>): Promise<T> {
    const etag = this.#loaded.known?.etag ?? null;
    return this.#take(await sendVersion(this.path, body as object, { ...(this.parameters as object), ...query }, etag));
  }

  /** Takes over the state in the service's refusal of a save; throws other errors. */
  #current(error: unknown): T {
    if (!(error instanceof Problem) || error.code !== "changed" || !error.current) throw error;
    return this.#take({ value: error.current as T, etag: error.etag });
  }

  #take(version: Version<T>): T {
    this.#loaded.set(version);
    return version.value;
  }
}
