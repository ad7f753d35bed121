import { expect, test, vi } from "vitest";

vi.mock("../../lib/window/demoWorld.svelte", () => ({ demoWorld: { on: false, simulated: "false" } }));
import { attributesOf, bulkFilter, keysQuery, listQuery, narrows, noFilters, valuesQuery } from "./filter";

const shown = { q: "bottle", group: "3", "attribute.colour": "red", "attribute.a.b": "x", sort: "name", new: "" };

test("attributes in the address filter the list, and bulk operations in the same way", () => {
  expect(attributesOf(shown)).toEqual([
    ["colour", "red"],
    ["a.b", "x"],
  ]);
  expect(listQuery(shown)).toMatchObject({ q: "bottle", group_id: "3", "attribute.colour": "red", "attribute.a.b": "x" });
  expect(bulkFilter(shown)).toEqual({ q: "bottle", group_id: 3, attributes: { colour: ["red"], "a.b": ["x"] } });
});

test("the values of an attribute are counted without its own filter", () => {
  const query = valuesQuery(shown, "colour");
  expect(query).toMatchObject({ attribute: "colour", "attribute.a.b": "x", q: "bottle" });
  expect(query).not.toHaveProperty(["attribute.colour"]);
  expect(query).not.toHaveProperty("sort");
});

test("the keys of attributes are counted with all filters", () => {
  const query = keysQuery({ ...shown, status: "deleted" });
  expect(query).toMatchObject({ "attribute.colour": "red", "attribute.a.b": "x", q: "bottle", group_id: "3", estimate: true });
  // The service counts existing tags, in no order.
  expect(query).not.toHaveProperty("deleted");
  expect(query).not.toHaveProperty("sort");
});

test("an attribute narrows the list until all filters are removed", () => {
  expect(narrows({ "attribute.colour": "red" })).toBe(true);
  expect(narrows({ "attribute.colour": "", sort: "name" })).toBe(false);
  expect(narrows({ ...shown, ...noFilters(shown) })).toBe(false);
});
