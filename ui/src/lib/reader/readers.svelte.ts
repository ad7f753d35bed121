// The readers, for every screen. Listeners are called once per insertion, however often the table
// changes.

import { onReaders, type Failed, type Reading, type ReaderTable } from "../shell/desktop";

/** An inlay that was read, or a card that could not be. */
export type Insertion = ({ state: "inlay" } & Reading) | ({ state: "failed" } & Failed);

class Readers {
  table = $state.raw<ReaderTable>({ fault: null, readers: [] });
  #listeners = new Set<(insertion: Insertion) => void>();
  #last = 0;
  #started = false;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    onReaders((table) => {
      this.table = table;
      for (const insertion of this.#present()) {
        if (insertion.insertion <= this.#last) continue;
        this.#last = insertion.insertion;
        for (const hear of this.#listeners) hear(insertion);
      }
    });
  }

  /** Readers for inlays, without slots for security modules or cards with contacts. */
  get usable(): ReaderTable["readers"] {
    return this.table.readers.filter(({ on }) => on.state !== "module");
  }

  /** Whether the card of this insertion is still on its reader. */
  has(insertion: number): boolean {
    return this.#present().some((one) => one.insertion === insertion);
  }

  /** The UID of the card of this insertion; null if it was not read. */
  uidOf(insertion: number): string | null {
    return this.#present().find((one) => one.insertion === insertion)?.uid ?? null;
  }

  /** The chip of this insertion; null if it was not read. */
  chipOf(insertion: number): Reading["chip"] | null {
    const one = this.#present().find((one) => one.insertion === insertion);
    return one?.state === "inlay" ? one.chip : null;
  }

  /** The name of the reader on which the card of this insertion still is. */
  readerOf(insertion: number): string | null {
    const places = this.table.readers;
    return places.find(({ on }) => (on.state === "inlay" || on.state === "failed") && on.insertion === insertion)?.name ?? null;
  }

  /** The newest insertion that is still on its reader. */
  get newest(): Insertion | null {
    return this.#present().at(-1) ?? null;
  }

  /** Calls `hear` with each insertion from now on; for `$effect`. */
  listen(hear: (insertion: Insertion) => void): () => void {
    this.#listeners.add(hear);
    return () => this.#listeners.delete(hear);
  }

  #present(): Insertion[] {
    const inserted = this.table.readers.map((place) => place.on);
    return inserted
      .filter((on): on is Insertion => on.state === "inlay" || on.state === "failed")
      .sort((a, b) => a.insertion - b.insertion);
  }
}

export const readers = new Readers();

export const lockWords: Record<Reading["lock"], string> = {
  open: "open: anyone can write it",
  key: "only with its key",
  partly: "partly locked",
  marked: "marked read-only, which only phones respect",
  locked: "locked permanently",
  unknown: "unknown",
};
