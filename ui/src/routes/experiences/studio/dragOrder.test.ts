import { expect, test } from "vitest";
import { reordered } from "./dragOrder.svelte";

test("an item is put before the one that it is dropped on", () => {
  const list = ["a", "b", "c", "d"];
  expect(reordered(list, 0, 2)).toEqual(["b", "a", "c", "d"]);
  expect(reordered(list, 3, 0)).toEqual(["d", "a", "b", "c"]);
  expect(reordered(list, 1, 4)).toEqual(["a", "c", "d", "b"]);
  for (const same of [2, 3]) expect(reordered(list, 2, same)).toEqual(list);
  expect(reordered(list, 9, 0)).toEqual(list);
});
