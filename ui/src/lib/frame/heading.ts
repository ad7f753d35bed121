// Where the focus goes when another screen is shown: to its heading. Otherwise it stays on the
// link that led there, or is lost with the screen before.

import { tick } from "svelte";

/** Whether a screen was shown before: at the start nobody was anywhere. */
let isFirst = true;

/** Gives the focus to this heading when it comes. Whoever went on inside the screen is not called back. */
export function heading(node: HTMLElement): void {
  if (isFirst) {
    isFirst = false;
    return;
  }
  void tick().then(() => {
    if (!node.closest("main")?.contains(document.activeElement)) node.focus({ preventScroll: true });
  });
}
