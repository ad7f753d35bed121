// The readers, for every screen. Listeners hear of each insertion once, however often
// the table changes.

import { OwnReads } from "./ownReads";
import { counterOf } from "../tap/tapUrl";
import { onReaders, type Failed, type Reading, type ReaderTable } from "../shell/desktop";

/** The reads of this application. */
export const ownReads = new OwnReads(localStorage);

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
        count(insertion);
        for (const hear of this.#listeners) hear(insertion);
      }
    });
  }

  /** Those that inlays can be placed on: a slot for a security module reads none. */
  get usable(): ReaderTable["readers"] {
    return this.table.readers.filter(({ on }) => on.state !== "module");
  }

  /** Whether the card of this insertion is still on its reader. */
  has(insertion: number): boolean {
    return this.#present().some((one) => one.insertion === insertion);
  }

  /** The UID of the card of this insertion, as far as it was read. */
  uidOf(insertion: number): string | null {
    return this.#present().find((one) => one.insertion === insertion)?.uid ?? null;
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

/** Notes a read that raised the chip's counter. A chip with a random UID is noted by its code instead. */
function count(read: Insertion): void {
  if (read.state === "failed") {
    if (read.may_have_counted && read.uid?.length === 14) ownReads.read(read.uid);
  } else if (read.codes.kind === "on" && !read.random_uid && read.uid !== null) {
    ownReads.read(read.uid);
    const counter = counterOf(read.url);
    if (counter !== null) ownReads.at(read.uid, counter);
  }
}

/** Chips as people know them. */
export const chipNames: Record<Reading["chip"], string> = {
  ntag424dna: "NTAG 424 DNA",
  ntag213: "NTAG213",
  ntag215: "NTAG215",
  ntag216: "NTAG216",
  ultralight: "MIFARE Ultralight",
  inconsistent: "A chip that names two UIDs",
  other_type2: "Another Type 2 tag",
  other_type4: "Another Type 4 tag",
  unknown: "Not a tag",
};

export const lockWords: Record<Reading["lock"], string> = {
  open: "open: anyone can write it",
  key: "only with its key",
  partly: "partly locked",
  marked: "marked read-only, which only phones respect",
  locked: "locked permanently",
  unknown: "unknown",
};
