// The periods whose created tags can be undone.

export type Period = "hour" | "today" | "week" | "ever";

export const periods: { value: Period; name: string }[] = [
  { value: "hour", name: "in the last hour" },
  { value: "today", name: "today (UTC)" },
  { value: "week", name: "in the last 7 days" },
  { value: "ever", name: "at any time" },
];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The beginning of a period that ends at `now`, in milliseconds; the daily limit counts UTC days. */
export function sinceOf(period: Period, now: number): string {
  const from = { hour: now - HOUR_MS, today: now - (now % DAY_MS), week: now - 7 * DAY_MS, ever: 0 }[period];
  return new Date(from).toISOString();
}
