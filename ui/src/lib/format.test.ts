import { expect, test } from "vitest";
import { ago } from "./format";

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
