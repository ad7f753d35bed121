import type { ComponentProps } from "svelte";
import { afterEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { cleanup, render } from "vitest-browser-svelte";
import { Selection } from "../../selection.svelte";
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

/** Waits for what comes with a frame or two; a slow machine is no failure. */
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 20_000 });

let shown = 0;

/** Shows a list of a name of its own: lists of one name have one place. */
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

test("without rows it says that it loads, why it could not, or what there is to do", async () => {
  const screen = await render(Rows, { items: [], loading: true });
  await expect.element(screen.getByRole("status")).toHaveTextContent("Loading bottles…");
  await screen.rerender({ loading: false });
  await expect.element(screen.getByText("No bottles yet.")).toBeVisible();
  await screen.rerender({ problem: "The disk is full." });
  await expect.element(screen.getByText("The disk is full.")).toBeVisible();
  expect(document.querySelector("[role=list]")).toBeNull();
});
