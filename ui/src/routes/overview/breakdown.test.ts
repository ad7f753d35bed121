import { expect, test } from "vitest";
import type { Report } from "../../lib/api/types";
import { busiest, rows, split, week } from "./breakdown";

const counts = (taps: number) => ({ taps, updates: 1, submissions: 0, before: { taps: 0, updates: 0, submissions: 0 } });
const report = {
  experiences: [
    { experience_id: 7, name: "Register", ...counts(3) },
    { experience_id: null, name: null, ...counts(1) },
  ],
  technologies: [{ value: "q", ...counts(4) }],
  countries: [
    { value: "DE", ...counts(3) },
    { value: "T1", ...counts(1) },
    { value: "", ...counts(1) },
  ],
  systems: [{ value: "ios", ...counts(4) }],
  languages: [{ value: "pt", ...counts(4) }],
  hours: [{ weekday: 7, hour: 23, ...counts(4) }],
  split: [{ from: 0, until: 40, ...counts(2) }],
} as unknown as Report;

test("values are said in words, and what is none stays as it is", () => {
  const names = (view: Parameters<typeof rows>[1]) => rows(report, view).map(({ name }) => name);
  expect(names("experiences")).toEqual(["Register", "No experience"]);
  expect(names("technologies")).toEqual(["QR code"]);
  expect(names("countries")).toEqual(["Germany", "T1", "Not known"]);
  expect(names("systems")).toEqual(["iOS"]);
  expect(names("languages")).toEqual(["Portuguese"]);
  expect(split(report)[0]?.name).toBe("40% of visitors (0 to 40)");
});

test("the week begins on Monday", () => {
  expect(week(report)[6]?.[23]).toBe(4);
  expect(week(report).flat().filter(Boolean)).toEqual([4]);
});

test("the busiest hour is the first of equals, and no hour is the busiest without taps", () => {
  expect(busiest(week(report))).toEqual({ day: 6, hour: 23, taps: 4 });
  expect(
    busiest([
      [0, 2, 2],
      [2, 1, 0],
    ]),
  ).toEqual({ day: 0, hour: 1, taps: 2 });
  expect(busiest([[0], [0]])).toBeNull();
});
