import { expect, test } from "vitest";
import { labels, testTapWords, ticks } from "./numbers";

test("test taps are said by who made them", () => {
  expect(testTapWords({ reader: 0, kiosk: 0 })).toBe("");
  expect(testTapWords({ reader: 1, kiosk: 0 })).toBe("1 test tap");
  expect(testTapWords({ reader: 2, kiosk: 1 })).toBe("2 test taps and 1 tap at a kiosk");
});

test("the axis is round and holds the highest bar", () => {
  expect(ticks(0)).toEqual([0, 1]);
  expect(ticks(3)).toEqual([0, 1, 2, 3]);
  expect(ticks(7)).toEqual([0, 2, 4, 6, 8]);
  for (const highest of [1, 9, 10, 11, 99, 1_234, 98_765, 1_000_000]) {
    const all = ticks(highest);
    expect(all.at(-1)!).toBeGreaterThanOrEqual(highest);
    expect(all.length).toBeLessThanOrEqual(6);
    expect(all.every((value) => Number.isInteger(value))).toBe(true);
  }
});

test("the labels below are few, and in the order of the buckets", () => {
  const buckets = (number: number, length: number) =>
    Array.from({ length: number }, (_, index) => ({ at: new Date(Date.UTC(2026, 10, 1) + index * length).toISOString() }));
  for (const [number, length, bars] of [
    [25, 3_600_000, "hour"],
    [169, 3_600_000, "hour"],
    [31, 86_400_000, "day"],
    [90, 86_400_000, "day"],
    [998, 86_400_000, "day"],
  ] as const) {
    const all = labels(buckets(number, length), bars);
    expect(all.length).toBeGreaterThan(3);
    expect(all.length).toBeLessThan(9);
    expect(all.every(({ index }, at) => at === 0 || index > all[at - 1]!.index)).toBe(true);
  }
  expect(labels([], "day")).toEqual([]);
});
