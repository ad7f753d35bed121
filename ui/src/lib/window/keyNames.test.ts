import { expect, test } from "vitest";
import { keyNames } from "./keyNames";

test("Ctrl is the Command key of a Mac, and a letter stays one", () => {
  expect(keyNames("Ctrl K", true)).toEqual(["⌘", "K"]);
  expect(keyNames("Ctrl K", false)).toEqual(["Ctrl", "K"]);
  expect(keyNames("g t", true)).toEqual(["g", "t"]);
});
