import { expect, it } from "vitest";
import { sinceOf } from "./periods";

it("a period begins before now, and today at midnight UTC, as the daily limit does", () => {
  const now = Date.parse("2026-03-04T15:30:00Z");
  expect(sinceOf("hour", now)).toBe("2026-03-04T14:30:00.000Z");
  expect(sinceOf("today", now)).toBe("2026-03-04T00:00:00.000Z");
  expect(sinceOf("week", now)).toBe("2026-02-25T15:30:00.000Z");
  expect(sinceOf("ever", now)).toBe("1970-01-01T00:00:00.000Z");
});
