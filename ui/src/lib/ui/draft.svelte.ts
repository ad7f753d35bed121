// A form for something that others may change in the meantime. Untouched fields follow the stored
// values. Typed text is never lost: a conflicting value is shown next to it, and a refused save
// leaves the fields unchanged.

import { whenOutdated, wordsOf } from "../api/problem";
import { placesOf, wrongOf } from "./wrong";

/** A member that is absent is the same as one that is `null`: a removed property. */
const same = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

export class Draft<T extends object> {
  /** The values of the fields. */
  form: T;
  /** Stored values that others changed in fields that were edited here. */
  theirs: Partial<T>;
  /** Why the last save failed. */
  problem = $state<string | null>(null);
  /** Errors by field name. */
  wrong = $state.raw<Record<string, string>>({});
  /** The same errors by the service's names: `rules[1]` is the second rule. */
  places = $state.raw<Record<string, string>>({});
  saving = $state(false);
  #base: T;
  #unshown = $state<string | null>(null);
  #discarding: { name: keyof T; run: () => void }[] = [];

  constructor(stored: T) {
    this.form = $state(structuredClone(stored));
    this.theirs = $state.raw({});
    this.#base = $state.raw(stored);
  }

  /** The last known stored values. */
  get base(): Readonly<T> {
    return this.#base;
  }

  /** The edited members. A member that was removed is `null`. */
  get changes(): Partial<T> {
    const form = $state.snapshot(this.form) as T;
    const edited = this.#names(form).filter((name) => !same(form[name], this.#base[name]));
    return Object.fromEntries(edited.map((name) => [name, form[name] ?? null])) as Partial<T>;
  }

  get changed(): boolean {
    return Object.keys(this.changes).length > 0;
  }

  /** The reason why the last save failed, if no field shows it. */
  get general(): string | null {
    return Object.keys(this.wrong).length > 0 ? this.#unshown : this.problem;
  }

  /** Takes over newly loaded stored values. */
  follow(stored: T): void {
    const theirs = { ...this.theirs };
    for (const name of this.#names(this.form, stored)) {
      const untouched = same(this.form[name], this.#base[name]);
      // Keep equal values as they are, so that their fields keep the focus.
      if (!same(stored[name], this.#base[name])) {
        if (untouched) this.#put(name, stored);
        else theirs[name] = stored[name] ?? (null as T[typeof name]);
      }
      if (same(this.form[name], stored[name])) delete theirs[name];
    }
    this.#base = stored;
    this.theirs = theirs;
  }

  /**
   * Saves the edits: `send` gets them, and returns the stored values, which the service may have
   * normalised. Returns whether they are saved. Text that is typed in the meantime stays an edit.
   */
  async save(send: (changes: Partial<T>) => Promise<T>): Promise<boolean> {
    if (this.saving) return false;
    const sent = this.changes;
    this.problem = null;
    this.wrong = {};
    this.places = {};
    this.saving = true;
    try {
      const stored = await send(sent);
      // The sent values are ours, even if the service normalised them: they are not another
      // person's change.
      const [base, theirs] = [{ ...this.#base }, { ...this.theirs }];
      for (const name of Object.keys(sent) as (keyof T)[]) {
        if (same(this.form[name], sent[name])) this.#put(name, stored);
        base[name] = stored[name];
        delete theirs[name];
      }
      this.#base = base;
      this.theirs = theirs;
      this.follow(stored);
      return true;
    } catch (error) {
      ({ fields: this.wrong, general: this.#unshown } = wrongOf(error, Object.keys(this.form)));
      this.places = placesOf(error);
      const problem = wordsOf(error);
      this.problem = problem;
      whenOutdated(error, () => {
        if (this.problem === problem) this.problem = null;
      });
      return false;
    } finally {
      this.saving = false;
    }
  }

  /** Calls `run` once, when the edit of this field is discarded, or its form is closed without edits. */
  onDiscard(name: keyof T, run: () => void): void {
    this.#discarding.push({ name, run });
  }

  /** Replaces the edit of a field with the stored value. */
  take(name: keyof T): void {
    this.#discarded((one) => one === name);
    this.#put(name, this.#base);
    const { [name]: _, ...others } = this.theirs;
    this.theirs = others as Partial<T>;
  }

  /** Discards all edits. */
  revert(): void {
    this.form = structuredClone(this.#base);
    this.theirs = {};
    this.problem = null;
    this.wrong = {};
    this.places = {};
    this.#discarded(() => true);
  }

  /** Notes that the form is closed without edits, so that nothing can be restored there. */
  closed(): void {
    this.#discarded(() => true);
  }

  #discarded(which: (name: keyof T) => boolean): void {
    const gone = this.#discarding.filter(({ name }) => which(name));
    this.#discarding = this.#discarding.filter(({ name }) => !which(name));
    for (const { run } of gone) run();
  }

  #put(name: keyof T, from: T): void {
    if (from[name] === undefined) delete this.form[name];
    else this.form[name] = structuredClone(from[name]);
  }

  #names(...more: T[]): (keyof T)[] {
    return [...new Set([this.#base, ...more].flatMap(Object.keys))] as (keyof T)[];
  }
}
