import { expect, test } from "vitest";
import { wholeNumber } from "./numbers";

test("a whole number is taken as it is typed", () => {
  expect(wholeNumber("12")).toBe(12);
  expect(wholeNumber(" 7 ")).toBe(7);
  expect(wholeNumber("-3")).toBe(-3);
  expect(wholeNumber("1200", 1, 1200)).toBe(1200);
});

test("what is not a whole number within its bounds is refused", () => {
  for (const text of ["", " ", "12 months", "1e3", "0x10", "1.5", "1,000", "١٢", "12345678901234567", "--1"])
    expect(wholeNumber(text), text).toBeNull();
  expect(wholeNumber("0", 1)).toBeNull();
  expect(wholeNumber("1201", 1, 1200)).toBeNull();
});
