// What a pane shows follows what happens elsewhere: live events tell of taps and
// updates, and a look now and then finds what no event tells, such as an edit at
// another desk.

import { atMostEvery, live } from "./live.svelte";

/** How long an edit at another desk may go unseen, in milliseconds. */
const LOOK_MS = 5_000;

/** Calls `look` after each live event of the tag, when the window is looked at again, and every few seconds. */
export function follow(look: () => unknown, tagId: number | null = null): () => void {
  live.start();
  const soon = atMostEvery(200, look);
  const seen = () => document.hidden || soon();
  const stop = live.hear((event) => event.tag_id === tagId && soon());
  const timer = setInterval(seen, LOOK_MS);
  addEventListener("focus", seen);
  return () => {
    stop();
    clearInterval(timer);
    removeEventListener("focus", seen);
  };
}
