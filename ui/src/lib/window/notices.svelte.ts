// Notices of finished actions and of failures, and the changes that can be undone. Notices
// disappear after a while, but not while the pointer or the focus is on one of them; failures stay
// until they are closed. An undo survives its notice: it stays in the recent changes.

import { reportFailures } from "../api/cache";
import { Switched, wordsOf } from "../api/problem";
import { switchedSince } from "../api/connection.svelte";
import { present } from "../format/now.svelte";

/** Most notices of finished actions; older ones are removed. */
const DONE_MAX = 4;

/** Most changes that can be undone: nobody looks for an older one in a list. */
const CHANGES_MAX = 50;

/** Options for the report of an action. */
export interface How {
  /** The name of the affected thing, if the text does not contain it. */
  about?: string;
  /** Whether the notice stays until it is closed. */
  stays?: boolean;
  /** The number of affected things; left out for one. */
  count?: number;
  /** The text for several actions of this kind together: "4 tags archived." */
  many?: (count: number) => string;
  /** A button that leads to the affected thing. */
  offer?: { name: string; run: () => void };
}

/** One finished action. */
export interface Change {
  id: number;
  text: string;
  about: string | null;
  count: number;
  many: ((count: number) => string) | null;
  /** When it was done, in milliseconds. */
  at: number;
  undo: (() => Promise<void>) | null;
  /** Whether the screens now show another service than at that time. */
  switched: () => boolean;
}

export interface Notice {
  id: number;
  text: string;
  /** The name of the affected thing, if the text does not contain it. */
  about: string | null;
  failed: boolean;
  /** How often the same has happened while it is shown. */
  times: number;
  /** Whether it stays until it is closed. */
  stays: boolean;
  /** The finished actions that it reports, the oldest first; none for a failure. */
  changes: Change[];
  /** A button that leads to the affected thing. */
  offer?: { name: string; run: () => void };
  /** Whether the screens now show another service than at that time. */
  switched: () => boolean;
}

/** Whether a notice offers an undo of everything that it reports. */
export const undoable = ({ changes }: Notice): boolean => changes.length > 0 && changes.every(({ undo }) => undo !== null);

/** Whether two actions are of the same kind, so that their notices become one. */
const alike = (one: Change, other: Change) =>
  (one.undo === null) === (other.undo === null) && (one.many && other.many ? one.many(2) === other.many(2) : one.text === other.text);

class Notices {
  shown = $state<Notice[]>([]);
  /** The changes that can be undone, the latest last. */
  changes = $state.raw<Change[]>([]);
  /** The id of the next notice; ids rise. */
  next = 1;
  #held = false;
  /** The ids of notices that would have disappeared, but are held. */
  #due: number[] = [];

  /** Reports a finished action. Returns its id. */
  done(text: string, undo?: () => Promise<void>, how: How = {}): number {
    const change: Change = {
      id: this.next++,
      text,
      about: how.about ?? null,
      count: how.count ?? 1,
      many: how.many ?? null,
      at: present(),
      undo: undo ?? null,
      switched: switchedSince(),
    };
    if (undo) this.changes = [...this.changes, change].slice(-CHANGES_MAX);
    const same = this.shown.find((notice) => notice.changes.some((one) => alike(one, change)) && !notice.switched());
    if (same) this.dismiss(same.id);
    this.#report([...(same?.changes ?? []), change], how.stays || (same?.stays ?? false), how.offer);
    return change.id;
  }

  /** Reports something with a button. */
  offer(text: string, name: string, run: () => void): void {
    const id = this.#show({ text, offer: { name, run } });
    this.#expire(id, 10_000);
  }

  /** Reports a failure. */
  failed(error: unknown): void {
    // A failed read of a former service has no place to be shown.
    if (error instanceof Switched && !error.wrote) return;
    const text = wordsOf(error);
    const same = this.shown.find((notice) => notice.failed && notice.text === text);
    if (same) this.dismiss(same.id);
    this.#show({ text, failed: true, stays: true, times: (same?.times ?? 0) + 1 });
  }

  /** Sets whether the pointer or the focus is on a notice, so that none disappears. */
  hold(held: boolean): void {
    this.#held = held;
    if (held) return;
    for (const id of this.#due) this.dismiss(id);
    this.#due = [];
  }

  /** Hides a notice. Its changes can still be undone. */
  dismiss(id: number): void {
    this.shown = this.shown.filter((notice) => notice.id !== id);
  }

  /** Removes a finished action, for example because its undo would change nothing any more. */
  forget(id: number): void {
    this.changes = this.changes.filter((change) => change.id !== id);
    const notice = this.shown.find(({ changes }) => changes.some((change) => change.id === id));
    if (!notice) return;
    const rest = notice.changes.filter((change) => change.id !== id);
    this.dismiss(notice.id);
    if (rest.length > 0) this.#report(rest, notice.stays);
  }

  /** Removes notices that only lead to a place in the former service. */
  switched(): void {
    this.shown = this.shown.filter((notice) => !((undoable(notice) || notice.offer) && notice.switched()));
    const kept = this.changes.filter((change) => !change.switched());
    const dropped = kept.length < this.changes.length;
    this.changes = kept;
    if (dropped) this.done("The connection changed: earlier changes can no longer be undone here.");
  }

  /** Undoes everything that a notice reports, the latest first. */
  async undo(notice: Notice): Promise<void> {
    this.dismiss(notice.id);
    const undone: Change[] = [];
    for (const change of [...notice.changes].reverse()) {
      if (!(await this.#take(change))) break;
      undone.push(change);
    }
    if (undone.length > 0) this.#undone(undone.length === notice.changes.length ? inWords(notice) : undone.map(inWords).join(" "));
  }

  /** Undoes one change. Returns whether it succeeded. */
  async undoOne(change: Change): Promise<boolean> {
    const undone = await this.#take(change);
    if (undone) this.#undone(inWords(change));
    return undone;
  }

  #undone(what: string): void {
    this.done("Undone.", undefined, { about: what });
  }

  /** Undoes a change. If that fails, the change stays in the list for another try. */
  async #take(change: Change): Promise<boolean> {
    if (!this.changes.some(({ id }) => id === change.id)) return false;
    const kept = this.changes;
    this.forget(change.id);
    if (change.switched()) {
      this.failed("The connection changed. Nothing was undone.");
      return false;
    }
    try {
      await change.undo?.();
      return true;
    } catch (error) {
      const since = this.changes.filter(({ id }) => !kept.some((one) => one.id === id));
      const before = kept.filter(({ id }) => id === change.id || this.changes.some((one) => one.id === id));
      this.changes = [...before, ...since];
      this.failed(error);
      return false;
    }
  }

  /** Shows finished actions of one kind as a single notice. */
  #report(changes: Change[], stays: boolean, offer?: Notice["offer"]): void {
    const [first, ...others] = changes;
    if (!first) return;
    const sum = changes.reduce((sum, { count }) => sum + count, 0);
    const text = others.length > 0 && first.many ? first.many(sum) : first.text;
    const about = others.every((other) => other.about === first.about) ? first.about : null;
    const times = others.length > 0 && !first.many ? changes.length : 1;
    const id = this.#show({ text, about, times, stays, changes, ...(offer ? { offer } : {}) });
    if (!stays) this.#expire(id, first.undo || offer ? 10_000 : 5_000);
  }

  #expire(id: number, milliseconds: number): void {
    setTimeout(() => (this.#held ? this.#due.push(id) : this.dismiss(id)), milliseconds);
  }

  #show(notice: Partial<Notice> & Pick<Notice, "text">): number {
    const id = this.next++;
    const shown: Notice = { id, about: null, failed: false, times: 1, stays: false, changes: [], switched: switchedSince(), ...notice };
    this.shown = [...this.shown, shown];
    const passing = this.shown.filter((one) => !one.stays && !undoable(one) && !one.offer);
    const oldest = passing[0];
    if (oldest && passing.length > DONE_MAX) this.dismiss(oldest.id);
    return id;
  }
}

/** A change, or the changes of a notice, with the affected thing: "Bottle 41: Properties saved." */
export const inWords = ({ about, text }: { about: string | null; text: string }): string => (about ? `${about}: ${text}` : text);

export const notices = new Notices();
reportFailures((error) => notices.failed(error));

/** Runs `work`, and reports a failure. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    notices.failed(error);
    return undefined;
  }
}
