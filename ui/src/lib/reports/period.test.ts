import { expect, test } from "vitest";
import { dayOf } from "../format/today.svelte";
import { barsOf, exportStepOf, inBars, MOST_DAYS, periodOf } from "./period";

const NOW = Date.parse("2026-11-28T10:30:00Z");
const BERLIN = "Europe/Berlin";

test("without days, the last 24 hours are compared with those before", () => {
  expect(periodOf("", NOW, BERLIN)).toEqual({
    since: "2026-11-27T10:30:00.000Z",
    until: undefined,
    before: { since: "2026-11-26T10:30:00.000Z", until: "2026-11-27T10:30:00.000Z" },
    words: "24 hours",
    step: "hour",
    time_zone: BERLIN,
    choices: ["hour"],
    live: true,
  });
});

test("a period that has not ended is compared with as much of the earlier one", () => {
  const { since, until, before, words, live } = periodOf("7d", NOW, BERLIN);
  expect([since, until]).toEqual(["2026-11-21T23:00:00.000Z", undefined]);
  expect(before).toEqual({ since: "2026-11-14T23:00:00.000Z", until: "2026-11-21T10:30:00.000Z" });
  expect([words, live]).toEqual(["7 days", true]);
});

test("a past period is whole, in the viewer's days", () => {
  const period = periodOf("last-month", NOW, BERLIN);
  const { since, until, before, step, live } = period;
  // The clocks go back on 25 October.
  expect([since, until]).toEqual(["2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z"]);
  expect(before).toEqual({ since: "2026-08-30T22:00:00.000Z", until: "2026-09-30T22:00:00.000Z" });
  expect([step, barsOf(period, ""), live]).toEqual(["hour", "day", false]);
});

test("a period of more than 41 days is counted by the viewer's days", () => {
  const period = periodOf("2026-01-01..2026-03-31", NOW, BERLIN);
  const { since, until, step, time_zone } = period;
  expect([since, until]).toEqual(["2025-12-31T23:00:00.000Z", "2026-03-31T22:00:00.000Z"]);
  expect([step, time_zone, barsOf(period, "")]).toEqual(["day", BERLIN, "day"]);
});

test("bars can be chosen if there are at least two of them", () => {
  const chosen = (value: string, per: string) => {
    const period = periodOf(value, NOW, BERLIN);
    return [barsOf(period, per), period.choices];
  };
  expect(chosen("", "")).toEqual(["hour", ["hour"]]);
  expect(chosen("", "week")).toEqual(["hour", ["hour"]]);
  expect(chosen("today", "month")).toEqual(["hour", ["hour"]]);
  expect(chosen("7d", "day")).toEqual(["day", ["hour", "day"]]);
  expect(chosen("30d", "week")).toEqual(["week", ["day", "week"]]);
  expect(chosen("30d", "month")).toEqual(["day", ["day", "week"]]);
  expect(chosen("2026-01-01..2026-03-31", "month")).toEqual(["month", ["day", "week", "month"]]);
});

test("an export has the bars of the chart, but no hours if the report has only days", () => {
  const period = periodOf("2026-01-01..2026-03-31", NOW, BERLIN);
  const exported = ["", "week", "month"].map((per) => exportStepOf(period.step, barsOf(period, per)));
  expect(exported).toEqual(["day", "week", "month"]);
  expect([exportStepOf("hour", "hour"), exportStepOf("hour", "day"), exportStepOf("day", "hour")]).toEqual(["hour", "day", "day"]);
});

test("no period has more steps than the service counts", () => {
  for (const days of [41, MOST_DAYS]) {
    const start = dayOf(NOW - (days - 1) * 86_400_000);
    const { since, until, step: by } = periodOf(`${start}..${dayOf(NOW)}`, NOW, "Asia/Kolkata");
    const step = by === "hour" ? 3_600_000 : 86_400_000;
    expect(Math.ceil((until ? Date.parse(until) : NOW) / step) - Math.floor(Date.parse(since) / step)).toBeLessThanOrEqual(1_000);
  }
});

test("hours and days are added up to days, weeks from Monday, and months", () => {
  const taps = (at: string) => ({ at: new Date(at).toISOString(), verified: 1, not_verified: 2, not_checked: 0 });
  const hours = [taps("2026-11-29T00:00"), taps("2026-11-29T23:00"), taps("2026-11-30T00:00"), taps("2026-12-01T00:00")];
  const added = (bars: "day" | "week" | "month") =>
    inBars(hours, bars).map(({ at, verified, not_verified }) => [at, verified, not_verified]);
  const [sunday, , monday, december] = hours.map(({ at }) => at);
  expect(added("day")).toEqual([
    [sunday, 2, 4],
    [monday, 1, 2],
    [december, 1, 2],
  ]);
  expect(added("week")).toEqual([
    [sunday, 2, 4],
    [monday, 2, 4],
  ]);
  expect(added("month")).toEqual([
    [sunday, 3, 6],
    [december, 1, 2],
  ]);
  expect(inBars(hours, "hour")).toEqual(hours);
});
