// Notices of finished actions, with undo, and of failures. Notices disappear after a
// while, but not while somebody is on one of them; failures stay until they are closed.

import { Switched, wordsOf } from "../api/problem";
import { switchedSince } from "../shell/connection.svelte";

export interface Notice {
  id: number;
  text: string;
  failed: boolean;
  undo?: () => Promise<void>;
  /** A way to what it is about. */
  offer?: { name: string; run: () => void };
  /** Whether the screens show another service by now than when it was shown. */
  switched: () => boolean;
}

class Notices {
  shown = $state<Notice[]>([]);
  /** The number of the next one: they rise. */
  next = 1;
  #held = false;
  /** Those whose time is over, and which are held. */
  #due: number[] = [];

  /** Reports a finished action; with `stays`, until it is closed. Returns the id of the notice. */
  done(text: string, undo?: () => Promise<void>, stays = false): number {
    const id = this.#show({ text, failed: false, undo });
    if (!stays) this.#expire(id, undo ? 10_000 : 5_000);
    return id;
  }

  /** Reports something with a button that leads to it. */
  offer(text: string, name: string, run: () => void): void {
    const id = this.#show({ text, failed: false, offer: { name, run } });
    this.#expire(id, 10_000);
  }

  /** Reports a failure. */
  failed(error: unknown): void {
    // What was only read has no place any more.
    if (error instanceof Switched && !error.wrote) return;
    this.#show({ text: wordsOf(error), failed: true });
  }

  /** Says whether the pointer or the focus is on a notice: none disappears meanwhile. */
  hold(held: boolean): void {
    this.#held = held;
    if (held) return;
    for (const id of this.#due) this.dismiss(id);
    this.#due = [];
  }

  dismiss(id: number): void {
    this.shown = this.shown.filter((notice) => notice.id !== id);
  }

  /** Drops what only leads somewhere in the service that the screens no longer show. */
  switched(): void {
    const dropped = this.shown.filter((notice) => (notice.undo ?? notice.offer) && notice.switched());
    this.shown = this.shown.filter((notice) => !dropped.includes(notice));
    if (dropped.some(({ undo }) => undo)) this.done("The connection changed: earlier changes can no longer be undone here.");
  }

  async undo(notice: Notice): Promise<void> {
    this.dismiss(notice.id);
    if (notice.switched()) return this.failed("The connection changed. Nothing was undone.");
    try {
      await notice.undo?.();
      this.done("Undone.");
    } catch (error) {
      this.failed(error);
    }
  }

  #expire(id: number, milliseconds: number): void {
    setTimeout(() => (this.#held ? this.#due.push(id) : this.dismiss(id)), milliseconds);
  }

  #show(notice: Omit<Notice, "id" | "switched">): number {
    const id = this.next++;
    this.shown = [...this.shown.slice(-3), { id, switched: switchedSince(), ...notice }];
    return id;
  }
}

export const notices = new Notices();

/** Runs `work`, and reports a failure. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    notices.failed(error);
    return undefined;
  }
}
