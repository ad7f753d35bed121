// The first-pass yield of an encoding run.

import type { EncodingRunRow } from "../../lib/api/types";

/**
 * The share of chips that were encoded the first time they were placed, among all that were encoded
 * or rejected. `tried` is the number of times that each chip was placed in this session.
 */
export function firstPassOf(
  done: readonly Pick<EncodingRunRow, "uid">[],
  rejected: readonly Pick<EncodingRunRow, "uid">[],
  tried: Readonly<Record<string, number>>,
): number | null {
  const encoded = done.filter(({ uid }) => tried[uid] !== undefined);
  const finished = encoded.length + rejected.filter(({ uid }) => tried[uid] !== undefined).length;
  return finished === 0 ? null : encoded.filter(({ uid }) => tried[uid] === 1).length / finished;
}
