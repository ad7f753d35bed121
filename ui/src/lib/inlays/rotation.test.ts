import { expect, test } from "vitest";
import { rotationWords } from "./rotation";

test("a rotation says what it does, and how far it is if that is counted", () => {
  expect(rotationWords({ phase: "wrapping", done: 200, total: 1204 })).toBe("Encrypting secrets with the new key: 200 of 1,204");
  expect(rotationWords({ phase: "checking", done: 0, total: 3 })).toBe("Checking that every secret opens: 0 of 3");
  expect(rotationWords({ phase: "erasing", done: 0, total: 0 })).toBe("Removing data encrypted with the former key…");
});
