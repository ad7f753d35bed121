// Where each list was left: its place is kept while another screen is shown.

import { onDestroy, untrack } from "svelte";

const places = new Map<string, { query: string; offset: number }>();

/** Keeps the place of this component's list by its name. Another query begins at the top. */
export function keepPlace(name: string, query: () => string, offset: () => number, scroller: () => HTMLElement | undefined): void {
  let shown = untrack(query);
  $effect(() => {
    if (query() === shown) return;
    shown = query();
    scroller()?.scrollTo({ top: 0 });
  });
  $effect(() => {
    const element = scroller();
    if (!element) return;
    const kept = places.get(name);
    places.delete(name);
    if (kept?.query === untrack(query)) element.scrollTop = kept.offset;
  });
  onDestroy(() => places.set(name, { query: shown, offset: offset() }));
}
