import { expect, test } from "vitest";
import { ago, duration, timeLeft } from "./format";

const now = Date.parse("2026-11-21T12:00:00Z");
const before = (milliseconds: number) => ago(new Date(now - milliseconds).toISOString(), now);

test("a moment is shown in the largest unit that fits", () => {
  expect(before(4_999)).toBe("now");
  expect(before(42_000)).toBe("42 s ago");
  expect(before(180_000)).toBe("3 min. ago");
  expect(before(7_200_000)).toBe("2 hr. ago");
  expect(before(86_400_000)).toBe("yesterday");
});

test("a clock of the service that is some seconds ahead is no future", () => {
  expect(before(-30_000)).toBe("now");
});

test("the time left is that of the rest at the rate so far", () => {
  const begun = now - 60_000;
  expect(timeLeft(begun, 250, 1_000, now)).toBe(", 3 min left");
  expect(timeLeft(begun, 750, 1_000, now)).toBe(", 20 s left");
  expect(timeLeft(begun, 1, 1_000, now)).toBe(", 16 h 39 min left");
});

test("nothing is said of the time left before anything is done, and near the end", () => {
  expect(timeLeft(now - 60_000, 0, 1_000, now)).toBe("");
  expect(timeLeft(now - 60_000, 990, 1_000, now)).toBe("");
});

test("a duration has its largest units", () => {
  expect([42_000, 59_600, 3_599_000, 7_200_000].map(duration)).toEqual(["42 s", "1 min", "1 h", "2 h"]);
});
