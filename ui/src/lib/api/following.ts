// Keeps a shown value up to date. Events say what may have changed, so nothing polls.

import { onChange, type About } from "./changes";
import { reach } from "./reach";

/**
 * Calls `outdate` when changes may have been missed: after the service did not respond, and when the
 * window gets the focus. A limited token gets no event for changes of many things at once.
 */
export function followGaps(outdate: () => void): () => void {
  const back = reach.onBack(outdate);
  const look = () => reach.lost || outdate();
  addEventListener("focus", look);
  return () => {
    back();
    removeEventListener("focus", look);
  };
}

/** The same, and after each change that concerns a path. `about` names the things in the response. */
export function follow(path: string, about: () => About, outdate: () => void): () => void {
  const stop = onChange((isConcerned) => isConcerned(path, about()) && outdate());
  const gaps = followGaps(outdate);
  return () => (stop(), gaps());
}
