import { expect, test, vi } from "vitest";
import type { CurrentToken } from "../api/types";

vi.mock("../api/client", () => ({ get: async () => null }));
vi.mock("../api/cache", () => ({ lookup: () => ({ now: { items: [{ id: 1, name: "Register" }] } }) }));

const { experiences } = await import("./names");
const { rights } = await import("./rights.svelte");

test("an experience that the token does not see has no name that could be its own", () => {
  const names = () => [null, 1, 2].map((id) => experiences.name(id));
  rights.token = { scopes: ["read"], experience_ids: null, group_ids: null } as unknown as CurrentToken;
  expect(names()).toEqual(["", "Register", "Experience 2"]);
  rights.token = { scopes: ["read"], experience_ids: null, group_ids: [3] } as unknown as CurrentToken;
  expect(names()).toEqual(["", "Register", "an experience that you cannot see"]);
  rights.token = null;
});
