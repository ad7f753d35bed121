// The focus of a menu that opens. Its library gives it the focus in the next frame, and keys that are
// typed before it would be lost: on a busy computer that is long enough for "f", "s" and Enter.

/**
 * Gives the open menu the focus at once: the `onOpenAutoFocus` of each menu. The library does it again
 * in the next frame if the focus left it, as after a press of the pointer, which focuses the button.
 */
export function focusMenu(): void {
  document.querySelector<HTMLElement>("[role=menu][data-state=open]")?.focus({ preventScroll: true });
}
