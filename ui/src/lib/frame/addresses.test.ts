import { expect, test } from "vitest";
import { groupAddress, groupAt, orderAddress, orderAt } from "./addresses";

test("an address names a run or an order", () => {
  expect(orderAt(orderAddress(7))).toBe(7);
  expect([orderAt("7"), orderAt(null), orderAt("order-x")]).toEqual([null, null, null]);
});

test("an address names a tag or a group", () => {
  expect(groupAt(groupAddress(3))).toBe(3);
  expect([groupAt("3"), groupAt(null), groupAt("group-x")]).toEqual([null, null, null]);
});
