import { expect, test } from "vitest";
import { atLocal, bucketOf } from "./since";

test("taps are counted by the hour as long as the service counts that many hours", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  expect(bucketOf(new Date("2026-11-22T10:00:00Z"), now)).toBe("hour");
  expect(bucketOf(new Date(now - 998 * 3_600_000), now)).toBe("hour");
  expect(bucketOf(new Date(now - 999 * 3_600_000), now)).toBe("day");
});

test("a moment is shown in the time zone of its field, to the minute", () => {
  const at = "2026-11-22T10:30:12Z";
  expect(Math.abs(new Date(atLocal(at)).getTime() - Date.parse(at))).toBe(12_000);
  expect(atLocal(null)).toBe("");
});
