import { beforeEach, expect, test, vi } from "vitest";
import { upload } from "../../lib/api/client";
import { Switched } from "../../lib/api/problem";
import { notices } from "../../lib/window/notices.svelte";
import { works } from "../../lib/window/works.svelte";
import type { ShellState } from "../../lib/shell/desktop";
import { shell } from "../../lib/shell/shell.svelte";
import { tagImport } from "./tagImport.svelte";

vi.mock("../../lib/api/client", () => ({ upload: vi.fn() }));
vi.mock("../../lib/window/router.svelte", () => ({ router: { place: { screen: "tags" }, go: vi.fn() } }));

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);
const file = new File([`name\n${Array.from({ length: 2_500 }, (_, index) => `Bottle ${index}`).join("\n")}\n`], "bottles.csv");

const table = {
  encoding: "utf-8",
  separator: ",",
  row_count: 2_500,
  columns: [{ heading: "name", column: "name", guessed: false }],
  rows: [],
};

beforeEach(() =>
  vi
    .mocked(upload)
    .mockReset()
    .mockResolvedValueOnce(table as never),
);

test("an import is of the service that its file was chosen for", async () => {
  connect("embedded");
  await tagImport.choose(file);
  tagImport.open = true;
  connect("shop");
  expect([tagImport.table, tagImport.file, tagImport.open]).toEqual([null, "", false]);
  connect("embedded");
  expect([tagImport.file, tagImport.open]).toEqual(["bottles.csv", true]);
});

test("an import that runs while the connection is switched sends nothing more, says so, and its rest is found there again", async () => {
  connect("embedded");
  await tagImport.choose(file);
  const results = Array.from({ length: 1_000 }, (_, index) => ({ row: index + 2, outcome: "created" }));
  const read = { encoding: "utf-8", separator: ",", notes: [], ignored_columns: [] };
  const unadded = { variables_added: 0, tags_with_added_variables: 0, groups_created: 0, created_groups: [] };
  const piece = {
    ...read,
    rows: 1_000,
    results,
    created: 1_000,
    updated: 0,
    refused: 0,
    left_out: 0,
    deleted: 0,
    ...unadded,
    stopped: null,
  };
  vi.mocked(upload)
    .mockResolvedValueOnce(piece as never)
    .mockImplementationOnce(async () => {
      connect("shop");
      works.switched();
      throw new Switched(true);
    });
  await tagImport.start(false);
  expect(upload).toHaveBeenCalledTimes(3);
  expect(notices.shown.map(({ text }) => text)).toContain("Importing bottles.csv was stopped, because the connection changed.");
  expect([tagImport.unfinished, tagImport.result]).toEqual([false, null]);
  expect(await tagImport.resume()).toBeNull();
  expect(upload).toHaveBeenCalledTimes(3);
  connect("embedded");
  expect(tagImport.unfinished).toBe(true);
  expect(tagImport.result?.stopped).toContain("Up to 1,000 rows after row 1,001 may be imported");
});
