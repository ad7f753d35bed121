import { expect, test } from "vitest";
import { BUTTON, covered, placeFor, ROW, type Control } from "./toastPlace";

const view = { width: 1280, height: 800 };
const size = { width: 340, height: 60 };
const control = (left: number, top: number, width = 100, height = 32, weight = BUTTON): Control => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
  weight,
});

test("the notices are in the lower right corner if nothing is there", () => {
  expect(placeFor(size, view, [])).toEqual({ right: 16, bottom: 16 });
  expect(placeFor(size, view, [control(200, 100)])).toEqual({ right: 16, bottom: 16 });
});

test("they are above the buttons at the lower edge", () => {
  const buttons = [control(1000, 756), control(1120, 756)];
  const place = placeFor(size, view, buttons);
  expect(place.right).toBe(16);
  expect(place.bottom).toBeGreaterThan(800 - 756);
  expect(covered(place, size, view, buttons)).toBe(0);
});

test("they are beside a column of controls that leaves no room", () => {
  const column = Array.from({ length: 20 }, (_, row) => control(1000, row * 40, 260));
  const place = placeFor(size, view, column);
  expect(covered(place, size, view, column)).toBe(0);
  expect(view.width - place.right).toBeLessThanOrEqual(1000);
});

test("over a list they stay in the corner, just above the buttons below it", () => {
  const rows = Array.from({ length: 20 }, (_, row) => control(0, 100 + row * 32, 1280, 32, ROW));
  const bar = control(1100, 760);
  const place = placeFor(size, view, [...rows, bar]);
  expect(covered(place, size, view, [bar])).toBe(0);
  expect(place.right).toBe(16);
  expect(place.bottom).toBeLessThan(100);
});
