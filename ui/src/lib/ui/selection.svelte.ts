// The selected rows of a list: one by one, or a range from the last one on.

export class Selection {
  ids = $state.raw<ReadonlySet<number>>(new Set());
  /** Whether everything that matches is selected, including rows that are not loaded. */
  all = $state(false);
  /** The row at which a range begins. */
  #from: number | null = null;

  has(id: number): boolean {
    return this.all || this.ids.has(id);
  }

  get size(): number {
    return this.ids.size;
  }

  toggle(id: number): void {
    const next = new Set(this.ids);
    if (!next.delete(id)) next.add(id);
    this.#set(next);
    this.#from = id;
  }

  /**
   * Selects everything from the last toggled row to `id`, in the order of the list. Without a
   * toggled row the range begins at `start`, the active row.
   */
  extend(id: number, order: readonly { id: number }[], start: number | null = null): void {
    const begin = this.#from ?? start ?? id;
    const [from, to] = [begin, id].map((one) => order.findIndex((item) => item.id === one)) as [number, number];
    if (from < 0 || to < 0) return this.toggle(id);
    const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.#set(new Set([...this.ids, ...range.map((item) => item.id)]));
    this.#from = begin;
  }

  clear(): void {
    this.#set(new Set());
    this.#from = null;
  }

  #set(ids: ReadonlySet<number>): void {
    this.ids = ids;
    this.all = false;
  }
}
