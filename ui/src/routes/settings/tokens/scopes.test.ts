import { expect, test } from "vitest";
import { endOf, scopeNames } from "./scopes";

test("scopes are named in one order", () => {
  expect(scopeNames(["tags", "read"])).toBe("Read, Tags");
  expect(scopeNames(["admin"])).toBe("Everything");
  expect(scopeNames([])).toBe("");
});

test("a day ends at its last second", () => {
  expect(endOf("")).toBe(null);
  expect(new Date(endOf("2027-01-31")!).getTime()).toBe(new Date(2027, 0, 31, 23, 59, 59).getTime());
});
