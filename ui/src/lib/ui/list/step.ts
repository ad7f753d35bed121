// The row that a key leads to.

/** The index that `key` leads to from `at`; `null` if it moves nothing. */
export function stepOf(key: string, at: number, length: number, page: number): number | null {
  if (length === 0) return null;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: length - 1 }[key];
  return to === undefined ? null : Math.max(0, Math.min(length - 1, to));
}
