// When another screen is shown, moves the focus to its heading. Otherwise the focus would stay on
// the link that led there, or be lost with the former screen.

import { tick } from "svelte";

/** Whether no screen was shown before: at the start the focus is not moved. */
let isFirst = true;

/**
 * Whether the person has already moved on, and would lose their place: inside the screen, or typing
 * anywhere. A link or a button outside of the screen only led here.
 */
function isElsewhere(node: HTMLElement, focused: Element | null): boolean {
  return !!node.closest("main")?.contains(focused) || !!focused?.matches("input, textarea, select, [contenteditable]");
}

/**
 * Gives the focus to this heading when it appears, unless the person has moved on in the meantime.
 */
export function heading(node: HTMLElement): void {
  if (isFirst) {
    isFirst = false;
    return;
  }
  void tick().then(() => {
    if (!isElsewhere(node, document.activeElement)) node.focus({ preventScroll: true });
  });
}
