// Where each list was left: its place is kept while another screen is shown, that of each connection apart.

import { onDestroy, tick, untrack } from "svelte";
import { notices } from "../../frame/notices.svelte";
import { around } from "../around";
import { count } from "../format";
import { FARTHEST } from "../pages.svelte";

interface Left {
  query: string;
  /** Pixels above the first row in sight. */
  offset: number;
  /** That row: others may have come before it meanwhile. */
  first: number | null;
}

/** The list whose place is kept. */
interface PlacedList {
  query: () => string;
  items: () => readonly { id: number }[];
  /** The height of a row, in pixels. */
  height: () => number;
  offset: () => number;
  scroller: () => HTMLElement | undefined;
  more: () => boolean;
  /** Loads on until there are so many rows; answers whether it was let. */
  reach: (rows: number) => Promise<boolean>;
}

const places = new Map<string, Left>();

/** Keeps the place of this component's list by its name. Another query begins at the top. */
export function keepPlace(name: string, list: PlacedList): void {
  // That of the list: it is left when another service is already connected.
  const key = untrack(() => `${name} ${around.connection() ?? ""}`);
  let shown = untrack(list.query);
  /** The place that rows are being loaded for: it is not lost if the list is left before. */
  let sought: Left | null = null;

  $effect(() => {
    if (list.query() === shown) return;
    shown = list.query();
    sought = null;
    list.scroller()?.scrollTo({ top: 0 });
  });

  $effect(() => {
    const element = list.scroller();
    if (!element) return;
    const left = places.get(key);
    places.delete(key);
    if (left && left.offset > 0 && left.query === untrack(list.query)) untrack(() => void seek(element, left));
  });

  async function seek(element: HTMLElement, left: Left) {
    const rows = Math.ceil((left.offset + element.clientHeight) / list.height());
    if (rows > FARTHEST && list.more()) {
      const row = count(Math.floor(left.offset / list.height()) + 1);
      notices.done(`You left this list at row ${row}, which is too far down to load again. It begins at its top.`);
      return;
    }
    sought = left;
    const there = rows <= list.items().length || !list.more() || (await list.reach(rows));
    await tick();
    if (sought !== left) return;
    sought = null;
    // Who stopped it, or scrolled meanwhile, reads something else.
    if (!there || list.offset() > 0) return;
    const index = list.items().findIndex(({ id }) => id === left.first);
    element.scrollTop = index < 0 ? left.offset : index * list.height() + (left.offset % list.height());
  }

  onDestroy(() => {
    const offset = list.offset();
    const first = list.items()[Math.floor(offset / list.height())]?.id ?? null;
    places.set(key, sought ?? { query: shown, offset, first });
    sought = null;
  });
}
