// Moves the notices away from the screen's controls while they are shown.

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

/** Places `node` over the screen. It does not move while the pointer or the focus is on it. */
export function besideControls(node: HTMLElement) {
  let place: Place | null = null;
  function look() {
    const size = { width: node.offsetWidth, height: node.offsetHeight };
    if (size.height === 0) place = null;
    // New notices may appear under the pointer, and are placed all the same.
    if (size.height === 0 || (place && node.matches(":hover, :focus-within"))) return;
    const view = { width: innerWidth, height: innerHeight };
    const controls = controlsIn(node);
    const next = placeFor(size, view, controls);
    // It moves only to a better place, because moving notices are hard to read.
    if (place && covered(place, size, view, controls) < BUTTON) return;
    place = next;
    node.style.right = `${place.right}px`;
    node.style.bottom = `${place.bottom}px`;
  }
  const resized = new ResizeObserver(look);
  resized.observe(node);
  const timer = setInterval(look, LOOK_MS);
  addEventListener("resize", look);
  return () => {
    resized.disconnect();
    clearInterval(timer);
    removeEventListener("resize", look);
  };
}
