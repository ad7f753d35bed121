import { expect, test } from "vitest";
import { Selection } from "./selection.svelte";

const order = [5, 4, 3, 2, 1].map((id) => ({ id }));

test("rows are selected one by one, and by a range from the last one, in both directions", () => {
  const selection = new Selection();
  selection.toggle(4);
  selection.extend(2, order);
  expect([...selection.ids].sort()).toEqual([2, 3, 4]);
  selection.extend(5, order);
  expect([...selection.ids].sort()).toEqual([2, 3, 4, 5]);
  selection.toggle(3);
  expect(selection.has(3)).toBe(false);
});

test("a range without a beginning, or one that is no longer in the list, is the row itself", () => {
  const selection = new Selection();
  selection.extend(3, order);
  expect([...selection.ids]).toEqual([3]);
  selection.toggle(9);
  selection.extend(1, order);
  expect([...selection.ids].sort()).toEqual([1, 3, 9]);
});

test("without a toggled row a range begins where the keys are", () => {
  const selection = new Selection();
  selection.extend(3, order, 5);
  expect([...selection.ids].sort()).toEqual([3, 4, 5]);
  selection.extend(1, order, 3);
  expect([...selection.ids].sort()).toEqual([1, 2, 3, 4, 5]);
});

test("everything is selected until a single row is chosen", () => {
  const selection = new Selection();
  selection.all = true;
  expect(selection.has(77)).toBe(true);
  selection.toggle(4);
  expect([selection.all, selection.has(77), selection.has(4)]).toEqual([false, false, true]);
  selection.clear();
  expect(selection.size).toBe(0);
});
