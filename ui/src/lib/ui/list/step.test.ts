import { expect, test } from "vitest";
import { stepOf } from "./step";

test("keys lead to rows, and never beyond the ends", () => {
  const from = (key: string, at: number) => stepOf(key, at, 10, 4);
  expect(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].map((key) => from(key, 5))).toEqual([6, 4, 9, 1, 0, 9]);
  expect([from("ArrowUp", 0), from("ArrowDown", 9), from("PageDown", 8), from("ArrowDown", -1)]).toEqual([0, 9, 9, 0]);
  expect([from("a", 5), stepOf("End", -1, 0, 4)]).toEqual([null, null]);
});
