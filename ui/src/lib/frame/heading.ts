// Where the focus goes when another screen is shown: to its heading. Otherwise it stays on the
// link that led there, or is lost with the screen before.

import { tick } from "svelte";

/** Whether a screen was shown before: at the start nobody was anywhere. */
let isFirst = true;

/**
 * Whether somebody went on already, and would lose their place: inside the screen, or typing
 * anywhere. A link or a button outside of it has only led here.
 */
function isElsewhere(node: HTMLElement, focused: Element | null): boolean {
  return !!node.closest("main")?.contains(focused) || !!focused?.matches("input, textarea, select, [contenteditable]");
}

/** Gives the focus to this heading when it comes. Whoever went on meanwhile is not called back. */
export function heading(node: HTMLElement): void {
  if (isFirst) {
    isFirst = false;
    return;
  }
  void tick().then(() => {
    if (!isElsewhere(node, document.activeElement)) node.focus({ preventScroll: true });
  });
}
