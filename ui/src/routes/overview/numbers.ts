// The numbers of the overview: how they changed, and the axes of their chart.

import type { BucketTaps, Stats } from "../../lib/api/types";
import { count, counted } from "../../lib/format/format";

export type State = "verified" | "not_verified" | "not_checked";
export const states: State[] = ["verified", "not_verified", "not_checked"];
export const sum = (taps: Record<State, number>) => taps.verified + taps.not_verified + taps.not_checked;

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

/** Taps by this application, as text; empty if there were none. */
export function testTapWords({ reader, kiosk }: Stats["test_taps"]): string {
  const parts = [...(reader > 0 ? [counted(reader, "test tap")] : []), ...(kiosk > 0 ? [`${counted(kiosk, "tap")} at a kiosk`] : [])];
  return parts.join(" and ");
}

/** The values of an axis from 0 to at least `highest`: round, and three to five of them. */
export function ticks(highest: number): number[] {
  const rough = Math.max(1, highest) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough);
  const number = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: number + 1 }, (_, index) => index * step);
}

const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** The labels under the chart, with the index of their bucket. */
export function labels(buckets: readonly Pick<BucketTaps, "at">[], daily: boolean): { index: number; text: string }[] {
  const long = daily || buckets.length > 48;
  const every = daily ? 5 : buckets.length > 48 ? 24 : 4;
  const midnight = (at: string) => new Date(at).getHours() === 0;
  // A week of hours has its labels at midnight.
  const first = long && !daily ? buckets.findIndex(({ at }) => midnight(at)) : 0;
  if (first < 0) return [];
  return buckets.flatMap(({ at }, index) => {
    const fits = index >= first && (index - first) % every === 0 && index < buckets.length - (daily ? 1 : every / 4);
    return fits ? [{ index, text: (long ? date : hour).format(new Date(at)) }] : [];
  });
}

/** The period of a bucket, for the card at the pointer. */
export const period = (at: string, daily: boolean) =>
  daily
    ? day.format(new Date(at))
    : `${date.format(new Date(at))}, ${hour.format(new Date(at))} to ${hour.format(new Date(new Date(at).getTime() + 3_600_000))}`;
