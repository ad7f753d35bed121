import { expect, test } from "vitest";
import { isStray } from "./clicks";

const [add, remove] = [{} as Element, {} as Element];
const click = (control: Element | null, at = 0, x = 100, y = 40) => ({ control, at, x, y });

test("the second half of a double click does nothing to a button that came under the pointer", () => {
  expect(isStray(click(add), click(remove, 120))).toBe(true);
  expect(isStray(click(add), click(remove, 120, 102, 41))).toBe(true);
});

test("other clicks are meant", () => {
  expect(isStray(click(add), click(add, 120)), "the same button").toBe(false);
  expect(isStray(click(add), click(remove, 700)), "later").toBe(false);
  expect(isStray(click(add), click(remove, 120, 160, 40)), "another position").toBe(false);
  expect(isStray(click(add), click(null, 120)), "nothing").toBe(false);
});
