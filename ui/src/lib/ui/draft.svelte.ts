// A form for something that others may change meanwhile. Untouched fields follow the
// stored values. Typed text is never lost: a conflicting value is shown beside it, and
// a refused save leaves the fields as they are.

import { wordsOf } from "../api/problem";
import { wrongOf } from "./wrong";

/** A member that is absent is the same as one that is `null`: a removed property. */
const same = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

export class Draft<T extends object> {
  /** The values of the fields. */
  form: T;
  /** Stored values that others changed in fields that were edited here. */
  theirs: Partial<T>;
  /** Why the last save failed. */
  problem = $state<string | null>(null);
  /** What is wrong with fields, by name. */
  wrong = $state.raw<Record<string, string>>({});
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

  /** Why the last save failed, if no field says it. */
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
   * Saves the edits: `send` is given them, and answers the stored values, which the
   * service may have normalised. Returns whether they are saved. What is typed while
   * it runs stays an edit.
   */
  async save(send: (changes: Partial<T>) => Promise<T>): Promise<boolean> {
    if (this.saving) return false;
    const sent = this.changes;
    this.problem = null;
    this.wrong = {};
    this.saving = true;
    try {
      const stored = await send(sent);
      // What was sent is ours, whatever the service made of it: no change of another.
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
      this.problem = wordsOf(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  /** Calls `run` once, when the edit of this field is discarded. */
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
