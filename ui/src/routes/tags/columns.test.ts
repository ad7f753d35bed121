import { expect, test } from "vitest";
import { attributeColumn, columnOf, inOrder, keyOfColumn } from "./columns.svelte";

test("columns have one order, with attributes before the taps", () => {
  expect(inOrder(["last", "attribute:colour", "slug", "attribute:lot"])).toEqual(["slug", "attribute:colour", "attribute:lot", "last"]);
  expect(inOrder(["attribute:colour", "group"])).toEqual(["group", "attribute:colour"]);
  // A column that a newer version kept.
  expect(inOrder(["slug", "weight"])).toEqual(["slug"]);
});

test("the column of an attribute has its key as name", () => {
  expect(columnOf(attributeColumn("lot.no"))).toMatchObject({
    key: "attribute:lot.no",
    name: "lot.no",
    sorts: ["attribute.lot.no", "-attribute.lot.no"],
  });
  expect(keyOfColumn("attribute:lot.no")).toBe("lot.no");
  expect(keyOfColumn("slug")).toBe(null);
});
