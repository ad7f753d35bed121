import { expect, test } from "vitest";
import type { Report } from "../../lib/api/types";
import { busiest, noneWords, rows, split, week } from "./breakdown";

const counts = (taps: number) => ({ taps, updates: 1, submissions: 0, before: { taps: 0, updates: 0, submissions: 0 } });
const report = {
  experiences: [
    { experience_id: 7, name: "Register", ...counts(3) },
    { experience_id: null, name: null, ...counts(1) },
  ],
  groups: [{ group_id: 5, kind: "product", name: "Grand Cru 2021", ...counts(2) }],
  tags: [{ tag_id: 41, slug: "k3v9qa", tag_name: "Bottle 41", taps: 2, updates: 1, submissions: 0, visitors: 1 }],
  verdicts: [
    { verdict: "verified", ...counts(3) },
    { verdict: "not_verified", ...counts(0) },
    { verdict: "not_checked", ...counts(1) },
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
  expect(names("groups")).toEqual(["Grand Cru 2021"]);
  expect(names("tags")).toEqual(["Bottle 41"]);
  expect(names("verdicts")).toEqual(["Verified", "Not verified", "Not checked"]);
  expect(names("technologies")).toEqual(["QR code"]);
  expect(names("countries")).toEqual(["Germany", "T1", "Not known"]);
  expect(names("systems")).toEqual(["iOS"]);
  expect(names("languages")).toEqual(["Portuguese"]);
  expect(split(report)[0]?.name).toBe("40% of visitors (0 to 40)");
});

test("a name links to its thing, and a link to taps or to a group keeps the period", () => {
  const query = { dates: "30d", per: "week", group: "3", experience: "7" };
  const links = (view: Parameters<typeof rows>[1]) => rows(report, view, query).map(({ to }) => to);
  expect(links("experiences")).toEqual([["experiences", 7, {}], null]);
  expect(links("groups")).toEqual([["overview", null, { dates: "30d", per: "week", group: "5" }]]);
  expect(links("tags")).toEqual([["tags", 41, {}]]);
  expect(links("verdicts")[1]).toEqual(["interactions", null, { dates: "30d", group: "3", experience: "7", verification: "not_verified" }]);
  expect(links("countries")).toEqual([null, null, null]);
});

test("tags have no counts of the period before, and a table without rows says why", () => {
  expect(rows(report, "tags")[0]?.counts.before).toBeNull();
  expect(rows(report, "groups")[0]?.counts.before).toEqual(counts(2).before);
  const many = { ...report, tags: null };
  expect(rows(many, "tags")).toEqual([]);
  expect(noneWords(many, "tags", null)).toContain("200,000 taps");
  expect(noneWords({ ...report, tags: [] }, "tags", null)).toBe("No taps in this period.");
  expect(noneWords(report, "groups", 5)).toContain("below this one");
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
