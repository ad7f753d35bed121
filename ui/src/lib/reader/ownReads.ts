// The reads of this application for each chip. A read raises the chip's counter, so
// gaps from our own reads are expected. Kept over restarts.

const KEY = "own-reads";
/** Chips that are remembered: more than one delivery of inlays has. */
const CHIPS_MAX = 2_000;
/** Reads of one chip that are remembered: a longer row is a gap worth a look. */
const READS_MAX = 64;

interface Reads {
  /** Counters of its reads here, rising. */
  counters: number[];
  /** Later reads with unknown counters: interrupted reads, or encrypted codes. */
  unknown: number;
}

export class OwnReads {
  #chips: Map<string, Reads>;

  constructor(readonly storage: Pick<Storage, "getItem" | "setItem">) {
    this.#chips = new Map(parsed(storage.getItem(KEY)));
  }

  /** Notes a read, complete or interrupted. */
  read(uid: string): void {
    const { counters, unknown } = this.#of(uid);
    this.#keep(uid, { counters, unknown: Math.min(unknown + 1, READS_MAX) });
  }

  /** Notes the counter of the newest read. Reads with unknown counters came right before it. */
  at(uid: string, counter: number): void {
    const { counters, unknown } = this.#of(uid);
    const last = counters.at(-1) ?? 0;
    if (counters.includes(counter)) return;
    // A lower counter starts a new row: the chip was encoded again.
    const earlier = counter > last ? counters : [];
    const floor = counter > last ? last : 0;
    const before = Math.min(Math.max(unknown - 1, 0), counter - floor - 1);
    const between = Array.from({ length: before }, (_, index) => counter - before + index);
    this.#keep(uid, { counters: [...earlier, ...between, counter].slice(-READS_MAX), unknown: 0 });
  }

  /** Whether reads of this application explain every counter between these two. */
  explain(uid: string, after: number, counter: number): boolean {
    const { counters } = this.#of(uid);
    const missing = counter - after - 1;
    return missing > 0 && counters.filter((one) => one > after && one < counter).length === missing;
  }

  #of(uid: string): Reads {
    return this.#chips.get(uid) ?? { counters: [], unknown: 0 };
  }

  #keep(uid: string, reads: Reads): void {
    // Least recently read chips come first, and are forgotten first.
    this.#chips.delete(uid);
    this.#chips.set(uid, reads);
    for (const oldest of this.#chips.keys()) {
      if (this.#chips.size <= CHIPS_MAX) break;
      this.#chips.delete(oldest);
    }
    try {
      this.storage.setItem(KEY, JSON.stringify([...this.#chips]));
    } catch {
      // If the storage is full, they last until the window closes.
    }
  }
}

function parsed(text: string | null): [string, Reads][] {
  try {
    return text === null ? [] : (JSON.parse(text) as [string, Reads][]);
  } catch {
    return [];
  }
}
