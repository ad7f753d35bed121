import { expect, test } from "vitest";
import type { Insertion } from "../../../lib/reader/readers.svelte";
import { chipUid, forGoodsIn } from "./ofChip";

test("an order that waits for chips comes before newer ones that do not", () => {
  const order = (id: number, received_count: number, rekeyed_count: number) => ({ id, received_count, rekeyed_count });
  const orders = [order(4, 3, 3), order(3, 0, 0), order(2, 3, 1), order(1, 2, 0)];
  expect(forGoodsIn(orders).map(({ id }) => id)).toEqual([2, 1, 4, 3]);
});

test("a chip is looked up only by a UID that identifies it", () => {
  const inlay = (uid: string, random_uid = false) => ({ state: "inlay", uid, random_uid }) as unknown as Insertion;
  expect(chipUid(inlay("04AABBCCDDEE01"))).toBe("04AABBCCDDEE01");
  expect(chipUid(inlay("08AABBCC"))).toBe(null);
  expect(chipUid(inlay("04AABBCCDDEE01", true))).toBe(null);
  expect(chipUid({ state: "failed", uid: "04AABBCCDDEE01" } as unknown as Insertion)).toBe(null);
});
