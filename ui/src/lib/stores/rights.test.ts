import { expect, test, vi } from "vitest";
import { get } from "../api/client";
import { Switched } from "../api/problem";
import type { ShellState } from "../shell/desktop";
import { shell } from "../shell/shell.svelte";
import { rights } from "./rights.svelte";

vi.mock("../api/client", () => ({ get: vi.fn() }));

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);

test("a late answer of the former service does not widen what the token of this one may do", async () => {
  connect("embedded");
  let late: (error: Error) => void = () => undefined;
  vi.mocked(get).mockReturnValueOnce(new Promise((_, fail) => (late = fail)) as never);
  const first = rights.load();
  connect("shop");
  vi.mocked(get).mockResolvedValueOnce({ scopes: ["tags:read"], experience_ids: null } as never);
  await rights.load();
  late(new Switched(false));
  await first;
  expect(rights.may("admin")).toBe(false);
});
