// The reads that this application made itself, chip by chip: each raises the
// chip's counter, so that a gap they made is none. Kept over restarts.

const KEY = "own-reads";
/** Chips that are remembered: a delivery's worth. */
const CHIPS_MAX = 2_000;
/** Reads of one chip that are remembered: more in a row are a gap that is worth a look. */
const READS_MAX = 64;

interface Reads {
  /** Counters at which it was read here, rising. */
  counters: number[];
  /** Reads since the last of them whose counter is not known: torn ones, or codes that hide it. */
  unknown: number;
}

export class OwnReads {
  #chips: Map<string, Reads>;

  constructor(readonly storage: Pick<Storage, "getItem" | "setItem">) {
    this.#chips = new Map(parsed(storage.getItem(KEY)));
  }

  /** The chip was read, or torn away while it was. */
  read(uid: string): void {
    const { counters, unknown } = this.#of(uid);
    this.#keep(uid, { counters, unknown: Math.min(unknown + 1, READS_MAX) });
  }

  /** The newest read was at this counter; those of unknown counter came right before it. */
  at(uid: string, counter: number): void {
    const { counters, unknown } = this.#of(uid);
    const last = counters.at(-1) ?? 0;
    if (counters.includes(counter)) return;
    // A counter that fell begins anew: the chip was encoded again.
    const earlier = counter > last ? counters : [];
    const floor = counter > last ? last : 0;
    const before = Math.min(Math.max(unknown - 1, 0), counter - floor - 1);
    const between = Array.from({ length: before }, (_, index) => counter - before + index);
    this.#keep(uid, { counters: [...earlier, ...between, counter].slice(-READS_MAX), unknown: 0 });
  }

  /** Whether every counter between these two was used up by a read of ours. */
  explain(uid: string, after: number, counter: number): boolean {
    const { counters } = this.#of(uid);
    const missing = counter - after - 1;
    return missing > 0 && counters.filter((one) => one > after && one < counter).length === missing;
  }

  #of(uid: string): Reads {
    return this.#chips.get(uid) ?? { counters: [], unknown: 0 };
  }

  #keep(uid: string, reads: Reads): void {
    // The chip that was read last stands last; the first ones are forgotten.
    this.#chips.delete(uid);
    this.#chips.set(uid, reads);
    for (const oldest of this.#chips.keys()) {
      if (this.#chips.size <= CHIPS_MAX) break;
      this.#chips.delete(oldest);
    }
    try {
      this.storage.setItem(KEY, JSON.stringify([...this.#chips]));
    } catch {
      // A full store forgets them with the window.
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
