// A second click of a double click is for what the first one hit. If the first
// one put something else under the pointer, the second one is swallowed there:
// nobody meant to click a button that was not there yet.

/** The longest double click of the common desktops, in milliseconds. */
const DOUBLE_MS = 500;
/** How far a hand moves between the two, in pixels. */
const NEAR = 5;

interface Click {
  at: number;
  x: number;
  y: number;
  control: Element | null;
}

const controlOf = (target: EventTarget | null) =>
  target instanceof Element ? target.closest("button, a, input, select, textarea, label, summary, [role=button], [role=option], [role=tab]") : null;

/** Whether `next` is the second half of a double click that `last` began on another control. */
export const isStray = (last: Click, next: Click): boolean =>
  next.control !== null &&
  next.control !== last.control &&
  next.at - last.at < DOUBLE_MS &&
  Math.hypot(next.x - last.x, next.y - last.y) < NEAR;

/** Watches over all clicks of the page. */
export function swallowStrayClicks(): void {
  let last: Click | null = null;
  const hear = (event: MouseEvent) => {
    // A click by the keyboard, or of a label upon its field, has no place of its own.
    if (event.detail === 0) return;
    const next = { at: event.timeStamp, x: event.clientX, y: event.clientY, control: controlOf(event.target) };
    if (last && isStray(last, next)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else {
      last = next;
    }
  };
  document.addEventListener("click", hear, true);
  // Who types between two clicks means both.
  for (const typed of ["keydown", "input"]) document.addEventListener(typed, () => (last = null), true);
}
