// Numbers as people type them. What is not a number is refused, and never
// becomes something else.

/** A whole number within bounds; `null` if the text is none. */
export function wholeNumber(text: string, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER): number | null {
  const trimmed = text.trim();
  if (!/^-?\d{1,16}$/.test(trimmed)) return null;
  const number = Number(trimmed);
  return number >= least && number <= most ? number : null;
}
