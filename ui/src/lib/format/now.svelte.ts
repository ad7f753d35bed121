// The service's time, for countdowns and "ago": the times of the service are compared with its own
// clock, even if this computer's clock is wrong.

import { createSubscriber } from "svelte/reactivity";

/**
 * Differences up to this many milliseconds are ignored: the service's dates have whole seconds, and
 * its response takes time.
 */
const SAME = 2_000;

/** How far the service's clock is ahead of this computer's, in milliseconds. */
let ahead = 0;

/** Notes the service's time, from the `Date` of a response that has just arrived. */
export function heardTime(date: string | null): void {
  const difference = Date.parse(date ?? "") - Date.now();
  if (Number.isFinite(difference)) ahead = Math.abs(difference) <= SAME ? 0 : difference;
}

/** The service's time, in milliseconds since 1970. */
export const present = (): number => Date.now() + ahead;

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 250);
  return () => clearInterval(timer);
});

/** The same, updated four times a second while it is shown. */
export function now(): number {
  subscribe();
  return present();
}
