// A form over something that others change meanwhile. What nobody touched here
// follows them; what was typed is never lost, and theirs is shown beside it.

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

export class Edits<T extends object> {
  /** What the fields show. */
  form: T;
  /** What others wrote into fields that were edited here. */
  theirs: Partial<T>;
  /** What is stored, as far as it is known. */
  #stored: T;

  constructor(stored: T) {
    this.form = $state(structuredClone(stored));
    this.theirs = $state.raw({});
    this.#stored = $state.raw(stored);
  }

  /** The members that were edited, as they are to be stored. */
  get changes(): Partial<T> {
    const form = $state.snapshot(this.form) as T;
    return Object.fromEntries(this.#names().filter((name) => !same(form[name], this.#stored[name])).map((name) => [name, form[name]])) as Partial<T>;
  }

  get changed(): boolean {
    return Object.keys(this.changes).length > 0;
  }

  /** Takes in what is stored now. */
  follow(stored: T): void {
    const theirs = { ...this.theirs };
    for (const name of this.#names()) {
      const untouched = same(this.form[name], this.#stored[name]);
      // What is the same stays the very same: a field that is looked at keeps its focus.
      if (!same(stored[name], this.#stored[name])) {
        if (untouched) this.form[name] = structuredClone(stored[name]);
        else theirs[name] = stored[name];
      }
      if (same(this.form[name], stored[name])) delete theirs[name];
    }
    this.#stored = stored;
    this.theirs = theirs;
  }

  /** Takes in what came of a save of `sent`, which the service may have written differently. */
  settle(sent: Partial<T>, stored: T): void {
    for (const name of Object.keys(sent) as (keyof T)[]) {
      if (same(this.form[name], sent[name])) this.form[name] = structuredClone(stored[name]);
    }
    this.follow(stored);
  }

  /** Gives up what was typed into a field for what others wrote. */
  take(name: keyof T): void {
    this.form[name] = structuredClone(this.#stored[name]);
    const { [name]: _, ...others } = this.theirs;
    this.theirs = others as Partial<T>;
  }

  /** Gives up everything that was typed. */
  discard(): void {
    this.form = structuredClone(this.#stored);
    this.theirs = {};
  }

  #names(): (keyof T)[] {
    return Object.keys(this.#stored) as (keyof T)[];
  }
}
