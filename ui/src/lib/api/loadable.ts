// A value that screens show. It is loaded when a screen first reads it, and followed as long as one
// does, so that no screen begins, repeats or ends that by itself.

import { createSubscriber } from "svelte/reactivity";
import { present } from "../format/now.svelte";
import { atMostEvery } from "./atMostEvery";
import { Problem } from "./problem";

/** The pause before a value is loaded again, in milliseconds: changes often come in groups. */
const PAUSE_MS = 200;

/** A value that is loaded while a screen shows it. */
export interface Shown<T> {
  readonly now: T | null;
  readonly failure: unknown;
  load(): Promise<unknown>;
}

const isGone = (error: unknown) => error instanceof Problem && error.status === 404;

export interface How {
  /** Begins to follow the value: calls `outdate` when it may have changed, until the returned function is called. */
  follow?: (outdate: () => void) => () => void;
  /** Called with the failure of a load that nobody waits for, if no screen shows it in place of the value. */
  report?: (error: unknown) => void;
}

export class Loadable<T> implements Shown<T> {
  #now: T | null = null;
  #failure: unknown = null;
  #running: Promise<T> | null = null;
  /** The number of the latest request, and of the one whose result is the newest known. */
  #asked = 0;
  #newest = 0;
  #shown = false;
  #outdated = false;
  /** Whether the last known value may have been erased in the service. */
  #erased = false;
  #at = 0;
  #changed = (): void => undefined;
  #dated = (): void => undefined;
  readonly #fetch: () => Promise<T>;
  readonly #show: () => void;
  readonly #showTime = createSubscriber((dated) => void (this.#dated = dated));
  readonly #loadShown: () => Promise<unknown>;
  readonly #again = atMostEvery(PAUSE_MS, () => this.#shown && this.#outdated && this.#loadShown());

  constructor(fetch: () => Promise<T>, { follow, report = () => undefined }: How = {}) {
    this.#fetch = fetch;
    this.#loadShown = () => this.load().catch(report);
    this.#show = createSubscriber((changed) => {
      this.#changed = changed;
      this.#shown = true;
      // A former failure is no longer of interest: it is loaded again.
      if (this.#now === null) this.#failure = null;
      const stop = follow?.(() => this.outdate());
      void this.#loadShown();
      return () => {
        this.#shown = false;
        stop?.();
        this.hideErased();
      };
    });
  }

  /** The last known value; `null` before the first one. A template or an effect that reads it loads and follows it. */
  get now(): T | null {
    this.#show();
    return this.#now;
  }

  /** The reason why the last load failed; `null` if it succeeded. The last known value stays. */
  get failure(): unknown {
    this.#show();
    return this.#failure;
  }

  /** The time of the response with this value, in milliseconds by the service's clock; 0 before the first one. */
  get at(): number {
    this.#show();
    this.#showTime();
    return this.#at;
  }

  /** Whether a screen shows it. */
  get shown(): boolean {
    return this.#shown;
  }

  /** The last known value, for code that does not show it. */
  get known(): T | null {
    return this.#now;
  }

  /** Loads it. Loads at the same time share one request. */
  load(): Promise<T> {
    this.#outdated = false;
    return (this.#running ??= this.#ask(++this.#asked));
  }

  /** Takes over a value that is newer than the result of any request so far. */
  set(value: T): void {
    this.#newest = this.#asked;
    this.#running = null;
    this.#arrived(value);
  }

  /** Says that it may have changed: the next load does not share a request from before that. */
  outdate(): void {
    this.#outdated = true;
    this.#running = null;
    if (this.#shown) this.#again();
  }

  /**
   * Says that the service may have erased it. A screen that shows it keeps it only until the next
   * load succeeds or fails; otherwise it is forgotten at once.
   */
  erase(): void {
    if (!this.#shown) return this.forget();
    this.#erased = true;
    this.#newest = this.#asked;
    this.outdate();
  }

  /** Forgets the value if it may have been erased and has not been loaded since. */
  hideErased(): void {
    if (this.#erased) this.forget();
  }

  /** Forgets the value. Requests that are on their way do not bring it back. */
  forget(): void {
    this.#running = null;
    this.#at = 0;
    this.#take(null, null, this.#asked);
  }

  async #ask(number: number): Promise<T> {
    const isNewer = () => number > this.#newest;
    try {
      const value = await this.#fetch();
      if (isNewer()) this.#arrived(value, number);
      return this.#now ?? value;
    } catch (error) {
      if (isNewer()) this.#take(this.#erased || isGone(error) ? null : this.#now, error, number);
      throw error;
    } finally {
      if (number === this.#asked) this.#running = null;
    }
  }

  #arrived(value: T, number = this.#newest): void {
    this.#at = present();
    this.#take(value, null, number);
    this.#dated();
  }

  #take(value: T | null, failure: unknown, number: number): void {
    this.#newest = number;
    this.#erased = false;
    const isSame = JSON.stringify(value) === JSON.stringify(this.#now);
    if (isSame && failure === this.#failure) return;
    // An equal value stays the same object, so that nothing that depends on it starts over.
    if (!isSame) this.#now = value;
    this.#failure = failure;
    this.#changed();
  }
}
