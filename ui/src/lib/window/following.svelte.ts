// Keeps a pane up to date: live events announce taps and updates, and polling finds
// changes without an event, such as an edit on another computer.

import { reach } from "../api/reach";
import { atMostEvery, live } from "./live.svelte";

/** The interval of polling, in milliseconds: an edit may go unnoticed that long. */
const POLL_MS = 5_000;

/** Calls `load` after each live event of the tag, when the window gets the focus, and every few seconds. */
export function follow(load: () => unknown, tagId: number | null = null): () => void {
  live.start();
  const soon = atMostEvery(200, load);
  const poll = () => document.hidden || reach.lost || soon();
  const stop = live.hear((event) => event.event !== "alert" && event.tag_id === tagId && soon());
  const timer = setInterval(poll, POLL_MS);
  addEventListener("focus", poll);
  const back = reach.onBack(soon);
  return () => {
    stop();
    back();
    clearInterval(timer);
    removeEventListener("focus", poll);
  };
}
