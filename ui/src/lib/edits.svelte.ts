// A form for something that others may change meanwhile. Untouched fields follow the
// stored values. Typed text is never lost: a conflicting value is shown beside it.

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

export class Edits<T extends object> {
  /** The values of the fields. */
  form: T;
  /** Stored values that others changed in fields that were edited here. */
  theirs: Partial<T>;
  /** The last known stored values. */
  #stored: T;

  constructor(stored: T) {
    this.form = $state(structuredClone(stored));
    this.theirs = $state.raw({});
    this.#stored = $state.raw(stored);
  }

  /** The edited members. */
  get changes(): Partial<T> {
    const form = $state.snapshot(this.form) as T;
    return Object.fromEntries(this.#names().filter((name) => !same(form[name], this.#stored[name])).map((name) => [name, form[name]])) as Partial<T>;
  }

  get changed(): boolean {
    return Object.keys(this.changes).length > 0;
  }

  /** Takes over newly loaded stored values. */
  follow(stored: T): void {
    const theirs = { ...this.theirs };
    for (const name of this.#names()) {
      const untouched = same(this.form[name], this.#stored[name]);
      // Keep equal values as they are, so that their fields keep the focus.
      if (!same(stored[name], this.#stored[name])) {
        if (untouched) this.form[name] = structuredClone(stored[name]);
        else theirs[name] = stored[name];
      }
      if (same(this.form[name], stored[name])) delete theirs[name];
    }
    this.#stored = stored;
    this.theirs = theirs;
  }

  /** Takes over the result of saving `sent`, which the service may have normalised. */
  settle(sent: Partial<T>, stored: T): void {
    for (const name of Object.keys(sent) as (keyof T)[]) {
      if (same(this.form[name], sent[name])) this.form[name] = structuredClone(stored[name]);
    }
    this.follow(stored);
  }

  /** Replaces the edit of a field with the stored value. */
  take(name: keyof T): void {
    this.form[name] = structuredClone(this.#stored[name]);
    const { [name]: _, ...others } = this.theirs;
    this.theirs = others as Partial<T>;
  }

  /** Discards all edits. */
  discard(): void {
    this.form = structuredClone(this.#stored);
    this.theirs = {};
  }

  #names(): (keyof T)[] {
    return Object.keys(this.#stored) as (keyof T)[];
  }
}
