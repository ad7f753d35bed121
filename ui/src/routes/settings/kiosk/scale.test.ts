import { expect, test } from "vitest";
import { fitting } from "./scale";

test("a large photo is scaled down with its proportions, and no picture is scaled up", () => {
  expect(fitting(8_000, 6_000)).toEqual({ width: 3_840, height: 2_880 });
  expect(fitting(3_000, 6_000)).toEqual({ width: 1_920, height: 3_840 });
  expect(fitting(3_840, 2_160)).toBeNull();
  expect(fitting(100, 100)).toBeNull();
});
