import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { cleanup, render } from "vitest-browser-svelte";
import type { ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import Table from "../routes/move/Table.svelte";
import { moving } from "../routes/move/moving.svelte";

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);
const presets = ["Alpha", "Beta"].map((title) => ({ name: title.toLowerCase(), title, about: title, columns: [] }));
const reel = {
  id: 3,
  name: "Bottles",
  template: "https://old.example/v?uid={uid}&token={counter}{mac}",
  technology: "ntag424dna",
  mode: "aes",
  inlays: 0,
};
/** The file as the service parses it. */
const table = {
  format: "csv",
  encoding: "utf-8",
  separator: ",",
  notes: [],
  row_count: 1,
  columns: ["chip", "note"].map((heading) => ({ heading, column: null, guessed: false })),
  rows: [{ row: 2, cells: ["04DE5F1EACC040", "x"] }],
};

/** Whether the service refuses the list of presets. */
let refuses = false;

beforeEach(() => {
  connect("embedded");
  refuses = false;
  const lists = { presets, "url-templates": [reel] };
  vi.spyOn(window, "fetch").mockImplementation(async (address) => {
    if (refuses && String(address).includes("presets")) return new Response("{}", { status: 500 });
    const items = Object.entries(lists).find(([name]) => String(address).includes(name))?.[1] ?? [];
    return new Response(JSON.stringify(String(address).includes("/import/table") ? table : { items, next: null }));
  });
});
afterEach(async () => {
  await cleanup();
  vi.restoreAllMocks();
  localStorage.clear();
  shell.state = { phase: "starting" };
});

function shown() {
  moving.add(reel.id);
  return render(Table, { asked: null, oncontinue: () => undefined });
}

test("an import of inlays is there again when its step was left, with its columns, and only in its service", async () => {
  const first = await shown();
  await first.getByLabelText("Exported by").selectOptions("Beta");
  await userEvent.upload(first.getByLabelText("File", { exact: true }), new File(["chip,note\n04DE5F1EACC040,x\n"], "inlays.csv"));
  const column = first.getByRole("combobox").nth(1);
  await column.selectOptions("uid");
  await first.unmount();

  const again = await shown();
  await expect.element(again.getByText("inlays.csv")).toBeVisible();
  await expect.element(again.getByLabelText("Exported by")).toHaveValue("beta");
  await expect.element(again.getByRole("combobox").nth(1)).toHaveValue("uid");
  await again.unmount();

  connect("shop");
  const other = await shown();
  await expect.element(other.getByLabelText("Exported by")).toHaveValue("alpha");
  expect(other.getByText("inlays.csv").query()).toBeNull();
});

test("a list of services that could not be loaded says so, and is loaded again", async () => {
  refuses = true;
  connect("refusing");
  const screen = await shown();
  await expect.element(screen.getByRole("button", { name: "Load the services again" })).toBeVisible();
  expect(screen.getByLabelText("Exported by").query()).toBeNull();
  refuses = false;
  await screen.getByRole("button", { name: "Load the services again" }).click();
  await expect.element(screen.getByLabelText("Exported by")).toBeEnabled();
  await expect.element(screen.getByLabelText("Exported by")).toHaveValue("alpha");
});
