// Counts compared with others: with the period before, and with the whole.

import { count } from "../format/format";

/**
 * A number compared with the previous period: "12% more", "3 fewer"; `null` if there was nothing
 * before.
 */
export function change(now: number, before: number): string | null {
  if (before === 0) return null;
  if (now === before) return "as many";
  const word = now > before ? "more" : "fewer";
  // For small numbers, a percentage would be misleading.
  if (before < 20) return `${count(Math.abs(now - before))} ${word}`;
  const percent = Math.round((Math.abs(now - before) / before) * 100);
  return percent === 0 ? "as many" : `${count(percent)}% ${word}`;
}

/** A share as text: "12%", "0.4%"; a dash if the whole is zero. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (part / whole) * 100;
  return percent > 0 && percent < 1 ? `${percent.toFixed(1)}%` : `${Math.round(percent)}%`;
}
