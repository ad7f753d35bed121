import { expect, test } from "vitest";
import { change, share } from "./compare";

test("a change of a few is a number, of many a percentage", () => {
  expect(change(5, 2)).toBe("3 more");
  expect(change(0, 7)).toBe("7 fewer");
  expect(change(150, 100)).toBe("50% more");
  expect(change(100, 100)).toBe("as many");
  expect(change(1_001, 1_000)).toBe("as many");
  expect(change(0, 0)).toBe(null);
  expect(change(140, 0)).toBe(null);
});

test("a share of little is not said to be none", () => {
  expect([share(0, 0), share(0, 9), share(1, 250), share(1, 3), share(3, 3)]).toEqual(["–", "0%", "0.4%", "33%", "100%"]);
});
