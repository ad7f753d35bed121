// Arrow keys that lead into a list, or into cards, from outside.

/**
 * The number of rows that an arrow key moves down; 0 for another key, or if the event is already
 * handled.
 */
export function arrowOf(event: KeyboardEvent): number {
  if (event.defaultPrevented || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return 0;
  return { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
}

/**
 * Whether an arrow key on `focused` has no other meaning: it is the heading of the screen, nothing,
 * or, for the arrow down, the search field.
 */
export function isBefore(focused: HTMLElement, by: number): boolean {
  if (focused === document.body || focused.matches("main, main h1:not(aside *)")) return true;
  return by > 0 && focused.matches("main input[type=search]");
}

/** Gives the focus to the heading of the screen: from there arrows lead into its list. */
export function toHeading(): void {
  const headings = [...document.querySelectorAll<HTMLElement>("main h1")];
  headings.find((one) => one.offsetParent !== null)?.focus({ preventScroll: true });
}
