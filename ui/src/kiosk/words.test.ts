import { expect, test } from "vitest";
import { closing, notices } from "./words";

test("the end of a visit is announced for its last fifteen seconds", () => {
  expect(closing(16)).toBe("");
  expect(closing(15)).toBe("This page closes in 15 seconds");
  expect(closing(1)).toBe("This page closes in 1 second");
});

test("messages to visitors contain no codes", () => {
  for (const words of Object.values(notices)) expect(words).not.toMatch(/\d|error|http/i);
});
