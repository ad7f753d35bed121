// Moves the notices away from the screen's controls while they are shown.

import { notices } from "./notices.svelte";
import { BUTTON, covered, placeFor, ROW, type Control, type Place } from "./toastPlace";

/** How often the covered controls are checked, in milliseconds: faster than a person clicks. */
const LOOK_MS = 200;

const CONTROLS = "button, input, select, textarea, summary, a[href], [role=tab], [role=menuitem], [role=option], [contenteditable]";
/** The list of a screen, including its rows. */
const LIST = "[role=listitem], [role=row], [role=option]";

/** The visible controls in the window, without those of the notices. */
function controlsIn(own: Element): Control[] {
  const scope = own.closest("[role=dialog]") ?? document;
  const found: Control[] = [];
  for (const element of scope.querySelectorAll<HTMLElement>(CONTROLS)) {
    if (own.contains(element)) continue;
    const { left, top, right, bottom } = element.getBoundingClientRect();
    if (right <= left || bottom <= top || bottom < 0 || top > innerHeight) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    // A control that is scrolled out of its container has a position, but is not visible there.
    const clipped = clipOf(element);
    const box = {
      left: Math.max(left, clipped.left),
      top: Math.max(top, clipped.top),
      right: Math.min(right, clipped.right),
      bottom: Math.min(bottom, clipped.bottom),
    };
    if (box.right > box.left && box.bottom > box.top) found.push({ ...box, weight: element.closest(LIST) ? ROW : BUTTON });
  }
  return found;
}

/** The part of the window in which the nearest scroll container shows an element. */
function clipOf(element: Element) {
  for (let one = element.parentElement; one; one = one.parentElement) {
    if (one.scrollHeight > one.clientHeight + 1 && /auto|scroll|hidden/.test(getComputedStyle(one).overflowY))
      return one.getBoundingClientRect();
  }
  return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
}

/**
 * Places `node` over the screen. It does not move while the focus is in it, or once the pointer was
 * moved onto it, which also holds its notices. A pointer that rests does not count, although browsers
 * report it: it is where the person pressed the last button, and the next one often appears there, too.
 */
export function besideControls(node: HTMLElement) {
  let place: Place | null = null;
  let pointed = false;
  function look() {
    const size = { width: node.offsetWidth, height: node.offsetHeight };
    if (size.height === 0) [place, pointed] = [null, false];
    // New notices may appear under the focus, and are placed all the same.
    if (size.height === 0 || (place && (pointed || node.matches(":focus-within")))) return;
    const view = { width: innerWidth, height: innerHeight };
    const controls = controlsIn(node);
    const next = placeFor(size, view, controls);
    // It moves only to a better place, because moving notices are hard to read.
    if (place && covered(place, size, view, controls) < BUTTON) return;
    place = next;
    node.style.right = `${place.right}px`;
    node.style.bottom = `${place.bottom}px`;
  }
  // By positions, because not every browser knows the distance of a movement.
  let [x, y] = [NaN, NaN];
  let moved = false;
  const track = ({ screenX, screenY }: PointerEvent) => {
    moved = screenX !== x || screenY !== y;
    [x, y] = [screenX, screenY];
  };
  const point = () => {
    if (!moved) return;
    pointed = true;
    notices.hold(true);
  };
  const leave = () => (pointed = false);
  addEventListener("pointerdown", track, { capture: true });
  addEventListener("pointermove", track, { capture: true });
  node.addEventListener("pointermove", point);
  node.addEventListener("pointerleave", leave);
  const resized = new ResizeObserver(look);
  resized.observe(node);
  const timer = setInterval(look, LOOK_MS);
  addEventListener("resize", look);
  return () => {
    resized.disconnect();
    clearInterval(timer);
    removeEventListener("resize", look);
    removeEventListener("pointerdown", track, { capture: true });
    removeEventListener("pointermove", track, { capture: true });
    node.removeEventListener("pointermove", point);
    node.removeEventListener("pointerleave", leave);
  };
}
