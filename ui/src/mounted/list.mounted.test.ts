import type { ComponentProps } from "svelte";
import { afterEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { cleanup, render } from "vitest-browser-svelte";
import { notices } from "../lib/window/notices.svelte";
import { Selection } from "../lib/ui/selection.svelte";
import Rows from "./Rows.svelte";

const bottles = (many: number, from = 1) =>
  Array.from({ length: many }, (_, index) => ({ id: from + index, name: `Bottle ${from + index}` }));
const focused = () => (document.activeElement as HTMLElement | null)?.dataset.row ?? null;
const row = (id: number) => document.querySelector<HTMLElement>(`[data-row="${id}"]`);
const rows = () => document.querySelector<HTMLElement>(".rows")!;

afterEach(async () => {
  await cleanup();
  location.hash = "";
});

/** Waits for changes that take a frame or two; a slow machine is not a failure. */
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 20_000 });

let shown = 0;

/** Shows a list with a unique name, because lists of the same name share one position. */
async function show(props: ComponentProps<typeof Rows>) {
  const screen = await render(Rows, { label: `Bottles ${++shown}`, ...props });
  await eventually(() => expect(row(1)).not.toBeNull());
  return screen;
}

test("one Tab leads into the list, and arrows, Home and End lead through it, also to rows that are not in the document", async () => {
  await show({ items: bottles(5_000) });
  document.querySelector<HTMLInputElement>("input")!.focus();
  await userEvent.tab();
  expect(focused()).toBe("1");
  await userEvent.keyboard("{ArrowDown}{ArrowDown}");
  await eventually(() => expect(focused()).toBe("3"));
  expect(row(5_000)).toBeNull();
  await userEvent.keyboard("{End}");
  await eventually(() => expect(focused()).toBe("5000"));
  expect(row(1)).toBeNull();
  await userEvent.keyboard("{ArrowUp}");
  await eventually(() => expect(focused()).toBe("4999"));
  await userEvent.keyboard("{Home}");
  await eventually(() => expect(focused()).toBe("1"));
});

test("the row that has the focus keeps it when rows come before it", async () => {
  const screen = await show({ items: bottles(200, 1) });
  row(1)!.focus();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}");
  await eventually(() => expect(focused()).toBe("3"));
  await screen.rerender({ items: [...bottles(3, 1_000), ...bottles(200, 1)] });
  await eventually(() => expect(row(1_000)).not.toBeNull());
  expect(focused()).toBe("3");
  await userEvent.keyboard("{ArrowDown}");
  await eventually(() => expect(focused()).toBe("4"));
});

test("x selects the row that has the keys, and Shift with an arrow all from there on", async () => {
  const selection = new Selection();
  await show({ items: bottles(50), selection });
  row(2)!.focus();
  await userEvent.keyboard("x");
  expect([...selection.ids]).toEqual([2]);
  await userEvent.keyboard("{Shift>}{ArrowDown}{/Shift}");
  await eventually(() => expect([...selection.ids]).toEqual([2, 3]));
  await userEvent.keyboard("{Shift>}{ArrowDown}{/Shift}");
  await eventually(() => expect([...selection.ids]).toEqual([2, 3, 4]));
});

test("a click with Shift selects a range, and no row is opened by it", async () => {
  const selection = new Selection();
  const screen = await show({ items: bottles(50), selection });
  await screen.getByLabelText("Select Bottle 2", { exact: true }).click();
  await screen.getByLabelText("Select Bottle 5", { exact: true }).click({ modifiers: ["Shift"] });
  expect([...selection.ids]).toEqual([2, 3, 4, 5]);
  expect(location.hash).toBe("");
});

test("a click with Shift on a row selects up to it from the row that has the keys, and one with Ctrl selects it, too", async () => {
  const selection = new Selection();
  await show({ items: bottles(50), selection });
  row(2)!.focus();
  await userEvent.click(row(4)!, { modifiers: ["Shift"] });
  expect([...selection.ids]).toEqual([2, 3, 4]);
  await userEvent.click(row(7)!, { modifiers: ["Control"] });
  expect([...selection.ids]).toEqual([2, 3, 4, 7]);
  await userEvent.click(row(9)!, { modifiers: ["Shift"] });
  expect([...selection.ids]).toEqual([2, 3, 4, 7, 8, 9]);
  expect(location.hash).toBe("");
  expect(String(getSelection())).toBe("");
  expect(focused()).toBe("9");
});

test("a row says its place among all of them, and the one whose pane is open is the current one", async () => {
  const screen = await show({ items: bottles(500), more: true, total: 1_234 });
  const item = (id: number) => document.querySelector<HTMLElement>(`[data-id="${id}"]`)!;
  // The header is the first row.
  const place = (id: number) => [item(id).ariaRowIndex, item(id).closest("[role=grid]")!.ariaRowCount];
  expect(place(3)).toEqual(["4", "1235"]);
  location.hash = "#/tags/3";
  await eventually(() => expect(row(3)!.ariaCurrent).toBe("true"));
  expect(row(2)!.ariaCurrent).toBeNull();
  await screen.rerender({ total: null });
  expect(place(3)).toEqual(["4", "-1"]);
  await screen.rerender({ more: false });
  expect(place(3)).toEqual(["4", "501"]);
});

test("Enter opens a row and the focus goes into its pane; once none is open, it is back on the row", async () => {
  await show({ items: bottles(50) });
  row(4)!.focus();
  document.querySelector("aside h2")!.remove();
  await userEvent.keyboard("{Enter}");
  await eventually(() => expect(location.hash).toBe("#/tags/4"));
  const heading = document.querySelector("aside")!.appendChild(document.createElement("h2"));
  heading.tabIndex = -1;
  await eventually(() => expect(document.activeElement).toBe(heading));
  // The pane goes, and the focus with it.
  heading.remove();
  location.hash = "#/tags";
  await eventually(() => expect(focused()).toBe("4"));
});

test("a page that fails leaves the rows that are there, and can be asked for again", async () => {
  const onretry = vi.fn();
  const screen = await show({ items: bottles(100), problem: "The service does not answer.", more: false, onretry });
  await expect.element(screen.getByRole("alert")).toHaveTextContent("The service does not answer.");
  expect(row(1)).not.toBeNull();
  await screen.getByRole("button", { name: "Try again" }).click();
  expect(onretry).toHaveBeenCalledOnce();
});

test("the next page is asked for before its end is seen, and not while one is on its way", async () => {
  const onmore = vi.fn();
  const screen = await show({ items: bottles(500), more: true, onmore });
  expect(onmore).not.toHaveBeenCalled();
  await screen.rerender({ loading: true });
  rows().scrollTop = 460 * 36;
  await eventually(() => expect(row(461)).not.toBeNull());
  expect(onmore).not.toHaveBeenCalled();
  await screen.rerender({ loading: false });
  await eventually(() => expect(onmore).toHaveBeenCalledOnce());
});

test("new rows wait while somebody reads further down, and the button for them leads to the top", async () => {
  const heard: boolean[] = [];
  const onfresh = vi.fn();
  const screen = await show({ items: bottles(500), onreading: (reading) => heard.push(reading), onfresh });
  expect(heard.at(-1)).toBe(false);
  rows().scrollTop = 2_000;
  await eventually(() => expect(heard.at(-1)).toBe(true));
  await screen.rerender({ waiting: 12 });
  await screen.getByRole("button", { name: "12 new" }).click();
  expect(onfresh).toHaveBeenCalledOnce();
  await eventually(() => expect(rows().scrollTop).toBe(0));
});

test("a list that was left is where it was, but another query begins at its top", async () => {
  const first = await show({ items: bottles(500), label: "Kept" });
  rows().scrollTop = 3_600;
  await eventually(() => expect(row(101)).not.toBeNull());
  await first.unmount();
  const again = await render(Rows, { items: bottles(500), label: "Kept" });
  await eventually(() => expect(rows().scrollTop).toBe(3_600));
  await again.rerender({ query: "other" });
  await eventually(() => expect(rows().scrollTop).toBe(0));
});

test("a list that was left far down loads as many rows again, and is where it was though rows came before it", async () => {
  const first = await show({ items: bottles(2_000), label: "Far" });
  rows().scrollTop = 1_500 * 36 + 10;
  await eventually(() => expect(row(1_501)).not.toBeNull());
  await first.unmount();
  let asked = 0;
  let go: (allowed: boolean) => void = () => undefined;
  const onreach = (wanted: number) => {
    asked = wanted;
    return new Promise<boolean>((done) => (go = done));
  };
  const screen = await render(Rows, { items: bottles(100), label: "Far", more: true, onreach });
  await eventually(() => expect(asked).toBeGreaterThan(1_500));
  await screen.rerender({ items: [...bottles(3, 9_001), ...bottles(2_000)] });
  go(true);
  await eventually(() => expect(rows().scrollTop).toBe(1_503 * 36 + 10));
  expect(asked).toBe(Math.ceil((1_500 * 36 + 10 + rows().clientHeight) / 36));
});

test("a list that was left too far down to load it again begins at its top, and says so", async () => {
  const first = await show({ items: bottles(12_000), label: "Too far" });
  rows().scrollTop = 11_000 * 36;
  await eventually(() => expect(row(11_001)).not.toBeNull());
  await first.unmount();
  const onreach = vi.fn(async () => true);
  await render(Rows, { items: bottles(100), label: "Too far", more: true, onreach });
  await eventually(() => expect(notices.shown.map(({ text }) => text).join()).toContain("at row 11,001"));
  expect(rows().scrollTop).toBe(0);
  expect(onreach).not.toHaveBeenCalled();
});

test("End loads on and goes to the last row that came, and stays if it is stopped by Escape", async () => {
  let go: (allowed: boolean) => void = () => undefined;
  const onreach = vi.fn(() => new Promise<boolean>((done) => (go = done)));
  const onstop = vi.fn(() => go(false));
  const screen = await show({ items: bottles(100), more: true, total: 300, onreach, onstop });
  row(1)!.focus();
  await userEvent.keyboard("{End}");
  await screen.rerender({ reaching: 10_100 });
  await expect.element(screen.getByRole("status")).toHaveTextContent("Loading further rows… 100 of 300");
  await userEvent.keyboard("{Escape}");
  expect(onstop).toHaveBeenCalledOnce();
  await screen.rerender({ reaching: null });
  expect(focused()).toBe("1");
  await userEvent.keyboard("{End}");
  await screen.rerender({ items: bottles(300), more: false });
  go(true);
  await eventually(() => expect(focused()).toBe("300"));
});

test("End of a list that is longer than what is loaded in one go says so", async () => {
  await show({ items: bottles(200), more: true, onreach: async () => true });
  row(1)!.focus();
  await userEvent.keyboard("{End}");
  await eventually(() => expect(focused()).toBe("200"));
  expect(notices.shown.at(-1)?.text).toBe("The first 200 rows are loaded, and there are more. End loads further.");
});

test("a list that does not fill its place is as high as its rows, up to the most that it is given", async () => {
  const screen = await show({ items: bottles(3), upTo: 5 });
  const high = () => document.querySelector<HTMLElement>(".list")!.clientHeight;
  expect(high()).toBe(3 * 36 + 34);
  expect(rows().scrollHeight).toBe(rows().clientHeight);
  await screen.rerender({ items: bottles(50) });
  expect(high()).toBe(5 * 36 + 34);
});

test("without rows it says that it loads, why it could not, or what there is to do", async () => {
  const screen = await render(Rows, { items: [], loading: true });
  await expect.element(screen.getByRole("status")).toHaveTextContent("Loading bottles…");
  await screen.rerender({ loading: false });
  await expect.element(screen.getByText("No bottles yet.")).toBeVisible();
  await screen.rerender({ problem: "The disk is full." });
  await expect.element(screen.getByText("The disk is full.")).toBeVisible();
  expect(document.querySelector("[role=grid]")).toBeNull();
});
