// What lies on the readers, for every screen. An insertion is told once to
// whoever listens, however often the table is.

import { OwnReads } from "./ownReads";
import { counterOf } from "./tapUrl";
import { onReaders, type Failed, type Laid, type ReaderTable } from "./desktop";

/** The reads that this application made. */
export const ownReads = new OwnReads(localStorage);

/** An inlay that was read, or a card that could not be. */
export type Insertion = ({ state: "inlay" } & Laid) | ({ state: "failed" } & Failed);

class Readers {
  table = $state.raw<ReaderTable>({ fault: null, readers: [] });
  #listeners = new Set<(insertion: Insertion) => void>();
  #told = 0;
  #started = false;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    onReaders((table) => {
      this.table = table;
      for (const insertion of this.#lying()) {
        if (insertion.insertion <= this.#told) continue;
        this.#told = insertion.insertion;
        count(insertion);
        for (const hear of this.#listeners) hear(insertion);
      }
    });
  }

  /** Whether what was laid down with this number still lies there. */
  lies(insertion: number): boolean {
    return this.#lying().some((lying) => lying.insertion === insertion);
  }

  /** The newest thing that lies on a reader. */
  get newest(): Insertion | null {
    return this.#lying().at(-1) ?? null;
  }

  /** Hears of each insertion from now on; for `$effect`. */
  listen(hear: (insertion: Insertion) => void): () => void {
    this.#listeners.add(hear);
    return () => this.#listeners.delete(hear);
  }

  #lying(): Insertion[] {
    const lying = this.table.readers.map((place) => place.on);
    return lying
      .filter((on): on is Insertion => on.state === "inlay" || on.state === "failed")
      .sort((a, b) => a.insertion - b.insertion);
  }
}

export const readers = new Readers();

/** Notes a read that raised the chip's counter. A random UID is nobody's: such a chip is noted by its code. */
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
export const chipNames: Record<Laid["chip"], string> = {
  ntag424dna: "NTAG 424 DNA",
  ntag213: "NTAG213",
  ntag215: "NTAG215",
  ntag216: "NTAG216",
  ultralight: "MIFARE Ultralight",
  inconsistent: "A chip that names two UIDs",
  other_type2: "Another Type 2 tag",
  other_type4: "Another Type 4 tag",
  unknown: "A card that is no tag",
};

export const lockWords: Record<Laid["lock"], string> = {
  open: "open: anyone can write it",
  key: "who has its key can write it",
  partly: "parts of it are locked",
  marked: "marked read-only, which only phones respect",
  locked: "locked for good",
  unknown: "it does not tell",
};
