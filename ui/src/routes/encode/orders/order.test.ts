import { expect, test } from "vitest";
import { positionsInWords, reportWords, stateOf } from "./order";

test("an order says how far it is", () => {
  const order = { exported_at: null as string | null, position_count: 2, received_count: 0, rekeyed_count: 0 };
  expect(stateOf(order)).toBe("not sent");
  expect(stateOf({ ...order, exported_at: "2026-01-01T00:00:00Z" })).toBe("at the bureau");
  expect(stateOf({ ...order, received_count: 2, rekeyed_count: 1 })).toBe("goods-in");
  expect(stateOf({ ...order, received_count: 2, rekeyed_count: 2 })).toBe("done");
});

test("a report says what is missing", () => {
  const report = { dry_run: true, bound: 3, unchanged: 0, refused: 1, proved: 1, missing: [4] };
  expect(reportWords(report)).toBe("3 chips can be bound, 1 sample verified, 1 row refused, 1 position without a chip.");
  expect(reportWords({ ...report, dry_run: false, refused: 0, proved: 0, missing: [] })).toBe("3 chips bound.");
  expect(positionsInWords([1, 2, 3, 7, 9, 10])).toBe("1 to 3, 7, 9 to 10");
  expect(positionsInWords([1, 3, 5], 2)).toBe("1, 3, …");
});
