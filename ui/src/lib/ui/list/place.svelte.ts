// The scroll position of each list: it is kept while another screen is shown, separately for each
// connection.

import { onDestroy, tick, untrack } from "svelte";
import { notices } from "../../window/notices.svelte";
import { around } from "../../window/around";
import { count } from "../../format/format";
import { FARTHEST } from "../pages.svelte";

interface Left {
  query: string;
  /** Pixels above the first visible row. */
  offset: number;
  /** The id of that row: other rows may have been added before it. */
  first: number | null;
}

/** A list whose position is kept. */
interface PlacedList {
  query: () => string;
  items: () => readonly { id: number }[];
  /** The height of a row, in pixels. */
  height: () => number;
  offset: () => number;
  scroller: () => HTMLElement | undefined;
  more: () => boolean;
  /** Loads pages until this number of rows is there. Returns whether it was not stopped. */
  reach: (rows: number) => Promise<boolean>;
}

const places = new Map<string, Left>();

/** Keeps the position of this component's list by its name. Another query starts at the top. */
export function keepPlace(name: string, list: PlacedList): void {
  // The list's own connection, because another service may already be connected when it is left.
  const key = untrack(() => `${name} ${around.connection() ?? ""}`);
  let shown = untrack(list.query);
  /** The position that rows are being loaded for: it is kept if the list is left before. */
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
    // If the person stopped it, or scrolled in the meantime, the position stays.
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
