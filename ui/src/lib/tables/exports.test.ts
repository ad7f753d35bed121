import { expect, test } from "vitest";
import { rowsOf } from "./exports";

test("the rows of a CSV file are its lines without the header, and those of a workbook are unknown", () => {
  expect([0, 1, 3].map((lines) => rowsOf("csv", lines))).toEqual([0, 0, 2]);
  expect(rowsOf("xlsx", 3)).toBeNull();
});
