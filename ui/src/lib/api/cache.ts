// The cache of the service's responses: one value for each path with its parameters, which all
// screens of a connection share. A screen that comes back shows the last known response at once.

import { get } from "./client";
import { onChange, type About, type Kind } from "./changes";
import { perConnection } from "./connection.svelte";
import { followGaps } from "./following";
import { Loadable } from "./loadable";
import type { AnswerOf, Given, PathOf } from "./operations";
import { Problem } from "./problem";
import { reach } from "./reach";

/** Most values that are kept, besides those that screens show. */
const KEPT = 200;

let reportTo: (error: unknown) => void = () => undefined;

/** Sets the function that is called if a value of `lookup` cannot be loaded. */
export function reportFailures(to: (error: unknown) => void): void {
  reportTo = to;
}

/** A token that may not read the names gets along with ids. */
const reported = (error: unknown) => (error instanceof Problem && error.status === 403) || reportTo(error);

interface Entry {
  path: string;
  about: About;
  value: Loadable<unknown>;
}

/** Marks a value that may have changed. What a write has removed is shown nowhere again. */
function take({ value }: Entry, kind: Kind): void {
  if (kind === "erasure") value.erase();
  else if (kind === "write" && !value.shown) value.forget();
  else value.outdate();
}

/** The values by path and parameters, the last used one last. */
const kept = perConnection(() => {
  const entries = new Map<string, Entry>();
  onChange((isConcerned, kind) => entries.forEach((entry) => isConcerned(entry.path, entry.about) && take(entry, kind)));
  // Nobody knows when it can be loaded again.
  reach.onLost(() => entries.forEach(({ value }) => value.hideErased()));
  return entries;
});

function entry(path: string, parameters: object, report?: (error: unknown) => void): Loadable<unknown> {
  const key = JSON.stringify([path, parameters, report !== undefined]);
  // The types of path and parameters have been checked by the functions below.
  const fetch = get as unknown as (path: string, parameters: object) => Promise<unknown>;
  const found = kept.get(key) ?? {
    path,
    about: parameters,
    value: new Loadable(() => fetch(path, parameters), { follow: followGaps, report }),
  };
  kept.delete(key);
  kept.set(key, found);
  if (kept.size > KEPT) forgetOldest(key);
  return found.value;
}

/** Removes the value that was not used for the longest time, and that no screen shows. */
function forgetOldest(used: string): void {
  for (const [key, { value }] of kept) if (key !== used && !value.shown) return void kept.delete(key);
}

/** The response of a path. The screen that shows it also shows its failure. */
export const cached = <P extends PathOf<"get">>(path: P, ...[parameters = {} as never]: Given<P, "get">) =>
  entry(path, parameters) as Loadable<AnswerOf<P, "get">>;

/** The response of a path, for names and choices beside other things: a failure is reported, and nothing waits for it. */
export const lookup = <P extends PathOf<"get">>(path: P, ...[parameters = {} as never]: Given<P, "get">) =>
  entry(path, parameters, reported) as Loadable<AnswerOf<P, "get">>;
