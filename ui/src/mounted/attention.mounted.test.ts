import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cleanup, render } from "vitest-browser-svelte";
import type { Stats } from "../lib/api/types";
import type { ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import Attention from "../routes/overview/Attention.svelte";

const stats = (failing_notifications: number) =>
  ({
    attention: {
      replays: 0,
      counter_gaps: 0,
      unset_tags: 0,
      factory_keys: 0,
      used_up: 0,
      opened_tags: 0,
      failing_notifications,
      low_disk_mebibytes: null,
    },
    complete: true,
  }) as Stats;

let connections = 0;
beforeEach(() => {
  // The cache of another connection is empty.
  shell.state = { phase: "ready", connection: { id: `attention-${connections++}` } } as ShellState;
  vi.spyOn(window, "fetch").mockImplementation(async () => new Response(JSON.stringify({ items: [], next: null })));
});
afterEach(async () => {
  await cleanup();
  vi.restoreAllMocks();
  shell.state = { phase: "starting" };
});

test("failing notifications need attention, with a link to them", async () => {
  const screen = await render(Attention, { stats: stats(2) });
  const link = screen.getByRole("link", { name: "2 failing notifications" });
  await expect.element(link).toBeVisible();
  expect(link.element().getAttribute("href")).toContain("notifications");
});

test("the problems of a group have links to the taps and tags of this group", async () => {
  const { attention, ...rest } = stats(0);
  const found = { ...rest, attention: { ...attention, replays: 3, unset_tags: 1 } };
  const screen = await render(Attention, { stats: found, group: 5 });
  for (const name of ["3 replays", "1 tag not set up"]) {
    const link = screen.getByRole("link", { name });
    await expect.element(link).toBeVisible();
    expect(link.element().getAttribute("href")).toContain("group=5");
  }
});

test("without a problem nothing needs attention", async () => {
  const screen = await render(Attention, { stats: stats(0) });
  await expect.element(screen.getByText("Nothing needs attention.")).toBeVisible();
});
