/** Counts the rows of a CSV file that arrives in pieces: line ends outside of quotes. */
export class RowCount {
  rows = 0;
  #quoted = false;

  add(piece: Uint8Array): void {
    for (const byte of piece) {
      if (byte === 0x22) this.#quoted = !this.#quoted;
      else if (byte === 0x0a && !this.#quoted) this.rows++;
    }
  }
}
