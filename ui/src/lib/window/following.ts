// Keeps an edited resource up to date, so that an edit on another computer is seen before it is
// overwritten. No event announces such an edit, so this is the one place that polls for it: every few
// seconds while a person uses the window, and rarely while nobody does.

import { onChange, type About } from "../api/changes";
import { reach } from "../api/reach";

/** The interval of polling, in milliseconds: an edit may go unnoticed that long. */
const POLL_MS = 5_000;
/** The interval while nobody uses the window. The first movement of the pointer ends it. */
const IDLE_POLL_MS = 60_000;
/** The time after which a window without movement and keys is not used, in milliseconds. */
const IDLE_MS = 60_000;

const MOVES = ["pointermove", "pointerdown", "keydown", "wheel"];

/**
 * Calls `outdate` after each change that concerns a path, when the window gets the focus, and as
 * often as above. `about` names the things in the response.
 */
export function follow(path: string, about: () => About, outdate: () => void): () => void {
  let [moved, asked] = [performance.now(), performance.now()];
  const isIdle = () => performance.now() - moved > IDLE_MS;
  function poll() {
    if (document.hidden || reach.lost) return;
    asked = performance.now();
    outdate();
  }
  function move() {
    const wasIdle = isIdle();
    moved = performance.now();
    if (wasIdle) poll();
  }
  // Timers may fire a little early.
  const timer = setInterval(() => (!isIdle() || performance.now() - asked > IDLE_POLL_MS - POLL_MS / 2) && poll(), POLL_MS);
  const stop = onChange((isConcerned) => isConcerned(path, about()) && outdate());
  const back = reach.onBack(outdate);
  addEventListener("focus", poll);
  for (const name of MOVES) addEventListener(name, move, { capture: true, passive: true });
  return () => {
    clearInterval(timer);
    stop();
    back();
    removeEventListener("focus", poll);
    for (const name of MOVES) removeEventListener(name, move, { capture: true });
  };
}
