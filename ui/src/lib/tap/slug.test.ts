import { expect, test } from "vitest";
import { SLUG_PATTERN, isGuessable, isSlug } from "./slug";

test("a slug has 1 to 64 of its characters", () => {
  for (const good of ["1", "1042", "AbC123xy", "abc_123", "a.b~c-d", "...", "z".repeat(64)]) expect(isSlug(good), good).toBe(true);
  for (const bad of ["", ".", "..", "z".repeat(65), "a b", "a/b", "käse", "b\u0430ttle", "a%41"]) expect(isSlug(bad), bad).toBe(false);
  // A browser compiles the pattern of a field with the flag v, which needs more escapes.
  expect(() => new RegExp(SLUG_PATTERN, "v")).not.toThrow();
});

test("a slug of fewer than eight characters can be guessed", () => {
  expect([isGuessable(""), isGuessable("1234567"), isGuessable("12345678")]).toEqual([false, true, false]);
});
