// The cache of the service's responses: one value for each path with its parameters, which all
// screens of a connection share. A screen that comes back shows the last known response at once.

import { get } from "./client";
import { onChange, type About } from "./changes";
import { perConnection } from "./connection.svelte";
import { Loadable } from "./loadable";
import type { AnswerOf, Given, PathOf } from "./operations";
import { Problem } from "./problem";
import { reach } from "./reach";

/** Most values that are kept. The oldest is forgotten first; screens that show it keep it. */
const KEPT = 200;

let reportTo: (error: unknown) => void = () => undefined;

/** Sets the function that is called if a value of `lookup` cannot be loaded. */
export function reportFailures(to: (error: unknown) => void): void {
  reportTo = to;
}

/** A token that may not read the names gets along with ids. */
const reported = (error: unknown) => (error instanceof Problem && error.status === 403) || reportTo(error);

const kept = perConnection(() => new Map<string, Loadable<unknown>>());

/**
 * Follows a value by the changes that concern it. Edits on other computers have no event: they are
 * found when the window gets the focus, and when a screen shows the value again.
 */
function follow(path: string, about: About, outdate: () => void): () => void {
  const stop = onChange((isConcerned) => isConcerned(path, about) && outdate());
  const back = reach.onBack(outdate);
  addEventListener("focus", outdate);
  return () => {
    stop();
    back();
    removeEventListener("focus", outdate);
  };
}

function entry(path: string, parameters: object, report?: (error: unknown) => void): Loadable<unknown> {
  const key = path + JSON.stringify(parameters);
  const found = kept.get(key);
  if (found) return found;
  // The types of path and parameters have been checked by the functions below.
  const fetch = get as unknown as (path: string, parameters: object) => Promise<unknown>;
  const made = new Loadable(() => fetch(path, parameters), { follow: (outdate) => follow(path, parameters, outdate), report });
  kept.set(key, made);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return made;
}

/** The response of a path. The screen that shows it also shows its failure. */
export const cached = <P extends PathOf<"get">>(path: P, ...[parameters = {} as never]: Given<P, "get">) =>
  entry(path, parameters) as Loadable<AnswerOf<P, "get">>;

/** The response of a path, for names and choices beside other things: a failure is reported, and nothing waits for it. */
export const lookup = <P extends PathOf<"get">>(path: P, ...[parameters = {} as never]: Given<P, "get">) =>
  entry(path, parameters, reported) as Loadable<AnswerOf<P, "get">>;
