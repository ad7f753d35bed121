// The numbers of the overview: how they changed, and the axes of their chart.

import type { BucketTaps, Stats } from "../../lib/api/types";
import { counted } from "../../lib/format/format";
import type { Bars } from "../../lib/reports/period";

export type State = "verified" | "not_verified" | "not_checked";
export const states: State[] = ["verified", "not_verified", "not_checked"];
export const sum = (taps: Record<State, number>) => taps.verified + taps.not_verified + taps.not_checked;

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

const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", options);
const formats = {
  hour: format({ hour: "2-digit", minute: "2-digit" }),
  day: format({ weekday: "short", day: "numeric", month: "short" }),
  date: format({ day: "numeric", month: "short" }),
  month: format({ month: "long", year: "numeric" }),
};

/** Most labels below the days of the chart. */
const MOST_LABELS = 8;

/** The labels under the chart, with the index of their bucket. */
export function labels(buckets: readonly Pick<BucketTaps, "at">[], bars: Bars, live = true): { index: number; text: string }[] {
  const daily = bars !== "hour";
  const long = daily || buckets.length > 48;
  const every = daily ? Math.max(1, Math.ceil(buckets.length / MOST_LABELS)) : buckets.length > 48 ? 24 : 4;
  const midnight = (at: string) => new Date(at).getHours() === 0;
  // A week of hours has its labels at midnight.
  const first = long && !daily ? buckets.findIndex(({ at }) => midnight(at)) : 0;
  if (first < 0) return [];
  // The end of the axis says "now".
  const end = buckets.length - (live ? (daily ? 1 : every / 4) : 0);
  const { hour, date, month } = formats;
  const text = bars === "month" ? month : long ? date : hour;
  return buckets.flatMap(({ at }, index) => {
    const fits = index >= first && (index - first) % every === 0 && index < end;
    return fits ? [{ index, text: text.format(new Date(at)) }] : [];
  });
}

/** The period of a bar, for the card at the pointer. */
export function period(at: string, bars: Bars): string {
  const { day, date, hour, month } = formats;
  const start = new Date(at);
  switch (bars) {
    case "hour":
      return `${date.format(start)}, ${hour.format(start)} to ${hour.format(new Date(start.getTime() + 3_600_000))}`;
    case "day":
      return day.format(start);
    case "week":
      return `Week from ${day.format(start)}`;
    case "month":
      return month.format(start);
  }
}
