// Rows that are dragged to another place by a handle. The keyboard has buttons for that.

export class DragOrder {
  /** The row that is dragged. */
  from = $state<number | null>(null);
  /** The position before which it would be dropped. */
  to = $state<number | null>(null);

  constructor(
    readonly list: () => HTMLElement | undefined,
    readonly drop: (from: number, to: number) => void,
  ) {}

  /** Begins at a handle; for its `pointerdown`. */
  begin(event: PointerEvent, index: number): void {
    if (event.button !== 0) return;
    event.preventDefault();
    const handle = event.currentTarget as HTMLElement;
    handle.setPointerCapture(event.pointerId);
    this.from = index;
    this.to = index;
    const move = ({ clientY }: PointerEvent) => (this.to = this.#placeAt(clientY));
    const end = (last: Event) => {
      handle.removeEventListener("pointermove", move);
      const [from, to] = [this.from, this.to];
      this.from = this.to = null;
      if (last.type === "pointerup" && from !== null && to !== null && to !== from && to !== from + 1) this.drop(from, to);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", end, { once: true });
  }

  #placeAt(y: number): number {
    const rows = [...(this.list()?.children ?? [])].filter((row) => row.hasAttribute("data-row"));
    const below = rows.findIndex((row) => {
      const { top, height } = row.getBoundingClientRect();
      return y < top + height / 2;
    });
    return below < 0 ? rows.length : below;
  }
}

/** The list with the item at `from` moved before the present item at `to`. */
export function reordered<T>(list: readonly T[], from: number, to: number): T[] {
  const item = list[from];
  if (item === undefined) return [...list];
  const rest = list.filter((_, index) => index !== from);
  const at = to > from ? to - 1 : to;
  return [...rest.slice(0, at), item, ...rest.slice(at)];
}
