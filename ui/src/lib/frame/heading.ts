// Where the focus goes when another screen is shown: to its heading. Otherwise it stays on the
// link that led there, or is lost with the screen before.

import { tick } from "svelte";

/** What had the focus when the address changed last; `undefined` before it did, when nobody was anywhere. */
let before: Element | null | undefined;

// Before the router hears of it: the screen may change right after that.
addEventListener("hashchange", () => (before = document.activeElement), { capture: true });

/** Gives the focus to this heading when it comes. Whoever went on meanwhile is not called back. */
export function heading(node: HTMLElement): void {
  if (before === undefined) return;
  void tick().then(() => {
    const now = document.activeElement;
    const lost = now === null || now === document.body;
    const stayed = now === before && !node.closest("main")?.contains(now);
    if (lost || stayed) node.focus({ preventScroll: true });
  });
}
