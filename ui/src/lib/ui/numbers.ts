// Numbers in text fields. An invalid text is an error, and never another number.

/** A whole number within bounds, or `null`. */
export function wholeNumber(text: string, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER): number | null {
  const trimmed = text.trim();
  if (!/^-?\d{1,16}$/.test(trimmed)) return null;
  const number = Number(trimmed);
  return number >= least && number <= most ? number : null;
}
