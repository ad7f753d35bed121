import { expect, test } from "vitest";
import { firstPassOf } from "./firstPass";

const rows = (...uids: string[]) => uids.map((uid) => ({ uid }));

test("a chip that was rejected is no first pass, and none is known before a chip is finished", () => {
  expect(firstPassOf([], [], {})).toBe(null);
  expect(firstPassOf(rows("A"), [], { A: 1 })).toBe(1);
  expect(firstPassOf(rows("A"), rows("B", "C", "D"), { A: 1, B: 1, C: 1, D: 2 })).toBe(0.25);
  expect(firstPassOf(rows("A", "B"), [], { A: 1, B: 2 })).toBe(0.5);
});

test("chips of former sessions do not count", () => {
  expect(firstPassOf(rows("A", "B"), rows("C"), { B: 1 })).toBe(1);
});
