import { expect, test, vi } from "vitest";
import type { CurrentToken } from "../api/types";

vi.mock("../api/client", () => ({ get: async () => null }));

const { rights } = await import("./rights.svelte");

/** Gives the connection a token that is limited to these groups. */
const limit = (group_ids: number[] | null) =>
  (rights.token = { scopes: ["tags"], experience_ids: null, group_ids } as unknown as CurrentToken);

test("a token of one group creates things there, and one of several chooses", () => {
  const where = (group_ids: number[] | null) => {
    limit(group_ids);
    return [rights.limited, rights.onlyGroup, rights.choosesGroup];
  };
  expect(where(null)).toEqual([false, null, false]);
  expect(where([3])).toEqual([true, 3, false]);
  expect(where([3, 5])).toEqual([true, null, true]);
  rights.token = null;
  expect(rights.choosesGroup).toBe(false);
});
