import { expect, test } from "vitest";
import type { Group } from "../api/types";
import { isWithin, pathOf, rowsOf, treeOf } from "./tree";

const group = (id: number, name: string, parent_id: number | null = null, kind: Group["kind"] = "product") =>
  ({ id, name, parent_id, kind }) as Group;
const groups = [
  group(1, "Wines", null, "folder"),
  group(2, "Grand Cru 2021", 1),
  group(3, "L10", 2, "batch"),
  group(4, "L9", 2, "batch"),
  group(5, "Apples"),
];
const among = (all: readonly Group[]) => (id: number) => all.find((one) => one.id === id);
const names = (open: number[]) => rowsOf(treeOf(groups), new Set(open)).map(({ group, level }) => `${level} ${group.name}`);

test("folders come first, and numbers in names are in their order", () => {
  expect(names([])).toEqual(["1 Wines", "1 Apples"]);
  expect(names([1, 2])).toEqual(["1 Wines", "2 Grand Cru 2021", "3 L9", "3 L10", "1 Apples"]);
  // What is in a closed group is not shown, even if it is open itself.
  expect(names([2])).toEqual(["1 Wines", "1 Apples"]);
});

test("a row knows its place among its siblings, and whether it can be opened", () => {
  const [wines, , first, second] = rowsOf(treeOf(groups), new Set([1, 2]));
  expect(wines).toMatchObject({ opens: true, position: 1, siblings: 2 });
  expect(first).toMatchObject({ opens: false, position: 1, siblings: 2 });
  expect(second).toMatchObject({ position: 2 });
});

test("a group that may hold some that are not loaded can be opened", () => {
  const rows = rowsOf(treeOf(groups), new Set(), ({ name }) => name === "Apples");
  expect(rows.map(({ group, opens }) => [group.name, opens])).toEqual([
    ["Wines", true],
    ["Apples", true],
  ]);
});

test("a group whose parent is not loaded is at the top", () => {
  expect(rowsOf(treeOf([group(7, "Lost", 99)]), new Set()).map(({ group }) => group.id)).toEqual([7]);
  expect(pathOf(among([group(7, "Lost", 99)]), 7).map(({ id }) => id)).toEqual([7]);
});

test("a path begins at the top, and ends even in a circle", () => {
  expect(pathOf(among(groups), 4).map(({ name }) => name)).toEqual(["Wines", "Grand Cru 2021", "L9"]);
  expect(pathOf(among(groups), null)).toEqual([]);
  expect(pathOf(among([group(1, "a", 2), group(2, "b", 1)]), 1).length).toBeLessThanOrEqual(3);
});

test("a group is within itself and all above it", () => {
  const path = (id: number | null) => pathOf(among(groups), id);
  expect([1, 2, 3].map((of) => isWithin(path(3), of))).toEqual([true, true, true]);
  expect(isWithin(path(1), 3)).toBe(false);
  expect(isWithin(path(null), 1)).toBe(false);
});
