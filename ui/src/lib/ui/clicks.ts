// If the first click of a double click puts another control under the pointer, the second click is
// ignored there, because it was not meant for it.

/** The longest double click of the common desktops, in milliseconds. */
const DOUBLE_MS = 500;
/** The largest distance between the two clicks, in pixels: hands move a little. */
const NEAR = 5;

interface Click {
  at: number;
  x: number;
  y: number;
  control: Element | null;
}

const controlOf = (target: EventTarget | null) =>
  target instanceof Element
    ? target.closest("button, a, input, select, textarea, label, summary, [role=button], [role=option], [role=tab]")
    : null;

/** Whether `next` is the second click of a double click that began with `last` on another control. */
export const isStray = (last: Click, next: Click): boolean =>
  next.control !== null &&
  next.control !== last.control &&
  next.at - last.at < DOUBLE_MS &&
  Math.hypot(next.x - last.x, next.y - last.y) < NEAR;

/** Ignores stray clicks anywhere on the page. */
export function swallowStrayClicks(): void {
  let last: Click | null = null;
  const hear = (event: MouseEvent) => {
    // Clicks by the keyboard have no position.
    if (event.detail === 0) return;
    const next = { at: event.timeStamp, x: event.clientX, y: event.clientY, control: controlOf(event.target) };
    // A label passes its click on to its field; Chromium does so with the position.
    if (last?.control instanceof HTMLLabelElement && last.control.control === next.control) return;
    if (last && isStray(last, next)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else {
      last = next;
    }
  };
  document.addEventListener("click", hear, true);
  // With typing in between, both clicks are meant.
  for (const typed of ["keydown", "input"]) document.addEventListener(typed, () => (last = null), true);
}
