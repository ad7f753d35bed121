import { afterEach, expect, test, vi } from "vitest";
import { cleanup, render } from "vitest-browser-svelte";
import { announceWrite } from "../lib/api/changes";
import type { ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import GroupNames from "./GroupNames.svelte";

afterEach(async () => {
  await cleanup();
  vi.restoreAllMocks();
  shell.state = { phase: "starting" };
});

// The block runs again when the groups arrive. "any" reads the derived value for the first time after
// that, "all" before.
test.each(["any", "all"] as const)("a store that a block's condition uses first keeps its derived values current: %s", async (by) => {
  shell.state = { phase: "ready", connection: { id: `block-${by}` } } as ShellState;
  let name = "Wines";
  const page = () => ({ items: [{ id: 1, parent_id: null, name }], next: null });
  vi.spyOn(window, "fetch").mockImplementation(async () => new Response(JSON.stringify(page())));
  const screen = await render(GroupNames, { by });
  await expect.element(screen.getByText("Groups: Wines")).toBeVisible();
  name = "Oils";
  announceWrite("/groups/1");
  await expect.element(screen.getByText("Groups: Oils")).toBeVisible();
});
