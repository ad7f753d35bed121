import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { cleanup, render } from "vitest-browser-svelte";
import Palette from "../lib/frame/palette/Palette.svelte";
import type { ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import { router } from "../lib/window/router.svelte";
import { shortcuts } from "../lib/window/shortcuts.svelte";

const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });
/** The words for which tags were asked. */
let asked: (string | null)[] = [];
let tags: (q: string | null) => Response | Promise<Response>;

beforeEach(() => {
  shell.state = { phase: "ready", connection: { id: "palette" }, connections: [] } as unknown as ShellState;
  [asked, tags] = [[], () => json({ items: [], next: null })];
  vi.spyOn(window, "fetch").mockImplementation(async (address) => {
    const { pathname, searchParams } = new URL(String(address), location.href);
    if (!pathname.endsWith("/tags")) return json({ items: [], next: null });
    asked.push(searchParams.get("q"));
    return tags(searchParams.get("q"));
  });
});
afterEach(async () => {
  shortcuts.palette = false;
  await cleanup();
  vi.restoreAllMocks();
  shell.state = { phase: "starting" };
});

const open = async () => {
  const palette = await render(Palette, { settings: [] });
  shortcuts.palette = true;
  await expect.element(palette.getByPlaceholder(/Search tags/)).toHaveFocus();
  return palette;
};

test("tags are searched a moment after the last letter, and nothing is said to be missing before", async () => {
  let answer = (_: Response): void => undefined;
  tags = () => new Promise<Response>((resolve) => (answer = resolve));
  const palette = await open();
  await userEvent.keyboard("zzqx");
  await expect.element(palette.getByText("Searching…")).toBeVisible();
  await vi.waitFor(() => expect(asked.at(-1)).toBe("zzqx"));
  answer(json({ items: [{ id: 41, name: "Bottle zzqx", slug: "k3v9qa", attributes: {} }], next: null }));
  await expect.element(palette.getByRole("option", { name: /Bottle zzqx/ })).toBeVisible();
  tags = () => json({ items: [], next: null });
  await userEvent.keyboard("y");
  await expect.element(palette.getByText("No results for “zzqxy”.")).toBeVisible();
});

test("a search that fails says so instead of saying that there is nothing", async () => {
  tags = () => json({ detail: "The database is busy.", code: "busy" }, 503);
  const palette = await open();
  await userEvent.keyboard("zzqx");
  await expect.element(palette.getByRole("alert")).toHaveTextContent("Not everything could be searched. The database is busy.");
  expect(palette.getByText(/No results/).query()).toBeNull();
  tags = () => json({ items: [], next: null });
  await userEvent.keyboard("y");
  await expect.element(palette.getByText("No results for “zzqxy”.")).toBeVisible();
  expect(palette.getByRole("alert").query()).toBeNull();
});

test("Enter opens a result of the words as they are, and nothing once the palette is closed", async () => {
  const answers = new Map<string | null, (answer: Response) => void>();
  tags = (q) => new Promise<Response>((resolve) => answers.set(q, resolve));
  const answer = async (q: string, id: number) => {
    await vi.waitFor(() => expect(answers.has(q)).toBe(true));
    answers.get(q)?.(json({ items: [{ id, name: `Tag ${id}`, slug: `s${id}`, attributes: {} }], next: null }));
  };
  const go = vi.spyOn(router, "go").mockImplementation(() => undefined);
  const palette = await open();
  await userEvent.keyboard("zzq");
  await answer("zzq", 1);
  await expect.element(palette.getByRole("option", { name: /Tag 1/ })).toBeVisible();
  await userEvent.keyboard("x{Enter}");
  await answer("zzqx", 2);
  await vi.waitFor(() => expect(go.mock.calls).toEqual([["tags", 2, {}]]));
  shortcuts.palette = true;
  await expect.element(palette.getByPlaceholder(/Search tags/)).toHaveFocus();
  await userEvent.keyboard("zzqy");
  await vi.waitFor(() => expect(answers.has("zzqy")).toBe(true));
  await userEvent.keyboard("{Enter}{Escape}");
  await vi.waitFor(() => expect(shortcuts.palette).toBe(false));
  await answer("zzqy", 3);
  // Closed before the words are searched, unless the keys come slowly.
  shortcuts.palette = true;
  await expect.element(palette.getByPlaceholder(/Search tags/)).toHaveFocus();
  await userEvent.keyboard("{Control>}a{/Control}zzqw{Enter}{Escape}");
  await vi.waitFor(() => expect(shortcuts.palette).toBe(false));
  // A later search is answered after those that were left behind.
  shortcuts.palette = true;
  await expect.element(palette.getByPlaceholder(/Search tags/)).toHaveFocus();
  await userEvent.keyboard("{Control>}a{/Control}zzqz");
  await answer("zzqz", 4);
  await expect.element(palette.getByRole("option", { name: /Tag 4/ })).toBeVisible();
  expect(go).toHaveBeenCalledTimes(1);
});

test("a result of narrower words stays selected", async () => {
  tags = () => json({ items: [{ id: 41, name: "Bottle zzqx", slug: "k3v9qa", attributes: {} }], next: null });
  const palette = await open();
  for (const letters of ["zzq", "x"]) {
    await userEvent.keyboard(letters);
    await vi.waitFor(() => expect(document.querySelector(".palette-item[data-selected]")?.textContent).toContain("Bottle zzqx"));
    await vi.waitFor(() => expect(document.querySelector(".palette-item[data-disabled]")).toBeNull());
  }
  await expect.element(palette.getByRole("option", { name: /Bottle zzqx/ })).toHaveAttribute("data-selected");
});
