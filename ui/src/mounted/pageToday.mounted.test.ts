import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cleanup, render } from "vitest-browser-svelte";
import type { ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import PageToday from "../routes/interactions/PageToday.svelte";

const group = (id: number, name: string, parent_id: number | null) => ({ id, name, parent_id, kind: "product", status: "active" });
const page = (items: object[]) => ({ items, next: null });
let effective: object;
let asked: string[];

/** The answer of a service with a tag in a batch of a product. */
function answer(address: string): object {
  asked.push(address);
  if (address.includes("/tags/41/effective")) return effective;
  if (address.includes("/tags/")) return { id: address.includes("/tags/41") ? 41 : 42, group_id: address.includes("/tags/41") ? 3 : null };
  if (address.includes("/groups")) return page([group(2, "Grand Cru 2021", null), group(3, "L03", 2)]);
  return page(["Register product", "Recalled lot"].map((name, index) => ({ id: 7 + index, name })));
}

let connections = 0;
beforeEach(() => {
  asked = [];
  // The cache of another connection is empty.
  shell.state = { phase: "ready", connection: { id: `page-${connections++}` } } as ShellState;
  vi.spyOn(window, "fetch").mockImplementation(async (address) => new Response(JSON.stringify(answer(String(address)))));
});
afterEach(async () => {
  await cleanup();
  vi.restoreAllMocks();
  shell.state = { phase: "starting" };
});

test.each([
  [{ value: 7, group_id: 2 }, "The group Grand Cru 2021 gives the page: Register product."],
  [{ value: 7, group_id: null }, "The tag has its own page: Register product."],
  [{ value: null, group_id: null }, "Neither the tag nor a group above it gives a page."],
])("the page of today is that of %o", async (experience_id, words) => {
  effective = { experience_id, recall: null };
  const shown = (await render(PageToday, { tag_id: 41 })).getByRole("region", { name: "Page as of today" });
  await expect.element(shown).toHaveTextContent(words);
  expect(shown.element().textContent).not.toContain("Recalled with");
});

test.each([
  [null, "Recalled with L03: taps get a plain page that says so instead."],
  [8, "Recalled with L03: taps get Recalled lot instead."],
])("a recall replaces the page by %o", async (experience_id, words) => {
  effective = { experience_id: { value: 7, group_id: 2 }, recall: { group_id: 3, experience_id } };
  const shown = (await render(PageToday, { tag_id: 41 })).getByRole("region", { name: "Page as of today" });
  await expect.element(shown).toHaveTextContent(words);
  await expect.element(shown).toHaveTextContent("Grand Cru 2021 gives the page");
  expect(shown.getByRole("link", { name: "L03" }).element().getAttribute("href")).toContain("group-3");
});

test("a tag in no group has no such part", async () => {
  effective = { experience_id: { value: 7, group_id: 2 }, recall: null };
  await render(PageToday, { tag_id: 42 });
  await vi.waitFor(() => expect(asked.some((address) => address.includes("/tags/42"))).toBe(true));
  // The other tag is asked for later, so its part is the only one.
  const screen = await render(PageToday, { tag_id: 41 });
  await expect.element(screen.getByRole("region")).toHaveTextContent("Grand Cru 2021");
  expect(asked.some((address) => address.includes("/tags/42/effective"))).toBe(false);
});
