// The period that the overview shows: the last 24 hours, or the days in the address.

import { getLocalTimeZone, parseDate, startOfWeek } from "@internationalized/date";
import type { BucketTaps } from "../api/types";
import { counted } from "../format/format";
import { dayOf } from "../format/today.svelte";
import { boundsOf, daysOf, lengthOf, valueOf } from "../ui/filters/dates";

/** Most days whose hours the service counts in one answer: it has at most 1,000 steps. */
const MOST_BY_HOUR = 41;
/** Most days of a period: at most 1,000 steps of the service, and the days at both ends. */
export const MOST_DAYS = 998;
/** Most days that are shown by the hour. */
const SHOWN_BY_HOUR = 8;

/** The bars of the chart, the shortest first. */
const allBars = ["hour", "day", "week", "month"] as const;
export type Bars = (typeof allBars)[number];

export interface Period {
  since: string;
  /** Undefined if it ends now. */
  until: string | undefined;
  /** The same length before it, as far as it has come. */
  before: { since: string; until: string };
  /** Its length in words: "24 hours". */
  words: string;
  /** The steps that the service counts by. */
  step: "hour" | "day";
  /** The viewer's time zone: days begin at its midnight. */
  time_zone: string;
  /** The bars that can be chosen, the usual ones first. */
  choices: Bars[];
  /** Whether it ends now. */
  live: boolean;
}

const at = (milliseconds: number) => new Date(milliseconds).toISOString();

/** The bars of a period: at least two of them, and few enough to see. */
const choicesOf = (days: number): Bars[] =>
  allBars.filter((bars) => ({ hour: days <= SHOWN_BY_HOUR, day: days > 1, week: days > 7, month: days > 31 })[bars]);

/** The bars that were chosen, or the usual ones if the period has no such bars. */
export const barsOf = ({ choices }: Period, chosen: string): Bars => choices.find((one) => one === chosen) ?? choices[0]!;

/**
 * The steps of an export: the bars of the chart, or those of the report if they are longer, because the hours of long ago
 * are not stored.
 */
export const exportStepOf = (counted: Bars, bars: Bars): Bars => (allBars.indexOf(counted) > allBars.indexOf(bars) ? counted : bars);

/** The period of a value in the address at the moment `now`. */
export function periodOf(value: string, now: number, zone = getLocalTimeZone()): Period {
  const today = dayOf(now);
  const days = daysOf(value, today);
  if (!days) {
    const DAY = 86_400_000;
    const before = { since: at(now - 2 * DAY), until: at(now - DAY) };
    const byHour = { step: "hour", time_zone: zone } as const;
    return { since: at(now - DAY), until: undefined, before, words: "24 hours", ...byHour, choices: ["hour"], live: true };
  }
  const length = lengthOf(days);
  const choices = choicesOf(length);
  const bounds = (earlier: number) => {
    const moved = { start: days.start.subtract({ days: earlier }), end: days.end.subtract({ days: earlier }) };
    const { since = "", until = "" } = boundsOf(valueOf(moved), today, zone);
    return { since, until };
  };
  const own = bounds(0);
  const before = bounds(length);
  const left = Date.parse(own.until) - now;
  const live = left > 0;
  return {
    since: own.since,
    until: live ? undefined : own.until,
    // A day that has just begun is compared with as much of the earlier one.
    before: live ? { since: before.since, until: at(Date.parse(before.until) - left) } : before,
    words: counted(length, "day"),
    step: length <= MOST_BY_HOUR ? "hour" : "day",
    time_zone: zone,
    choices,
    live,
  };
}

/** The bar that contains a moment: its first day, or the moment itself for bars of an hour. */
function barOf(at: string, bars: Bars): string {
  const day = dayOf(Date.parse(at));
  switch (bars) {
    case "hour":
      return at;
    case "day":
      return day;
    case "week":
      return startOfWeek(parseDate(day), "en-GB").toString();
    case "month":
      return day.slice(0, 7);
  }
}

/** Hours or days of the service added up to bars of the viewer's calendar. */
export function inBars(buckets: readonly BucketTaps[], bars: Bars): BucketTaps[] {
  const sums = new Map<string, BucketTaps>();
  for (const bucket of buckets) {
    const bar = barOf(bucket.at, bars);
    const sum = sums.get(bar) ?? { at: bucket.at, verified: 0, not_verified: 0, not_checked: 0 };
    sums.set(bar, {
      at: sum.at,
      verified: sum.verified + bucket.verified,
      not_verified: sum.not_verified + bucket.not_verified,
      not_checked: sum.not_checked + bucket.not_checked,
    });
  }
  return [...sums.values()];
}
