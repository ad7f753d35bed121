import { expect, test } from "vitest";
import { orderAddress, orderAt } from "./addresses";

test("an address names a run or an order", () => {
  expect(orderAt(orderAddress(7))).toBe(7);
  expect([orderAt("7"), orderAt(null), orderAt("order-x")]).toEqual([null, null, null]);
});
