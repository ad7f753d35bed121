import { expect, test } from "vitest";
import { isReady, tagsInOrder } from "./runCsv";

test("the tags of a run come in the order of the rows, each once", () => {
  const rows = [
    { row: 4, outcome: "created" as const, id: 7, slug: "c" },
    { row: 2, outcome: "created" as const, id: 9, slug: "a" },
    { row: 3, outcome: "updated" as const, id: 3, slug: "b" },
    { row: 5, outcome: "updated" as const, id: 9, slug: "a" },
  ];
  expect(tagsInOrder(rows)).toEqual([9, 3, 7]);
});

test("a file is ready once it has rows, not too many of them, and the column that is needed", () => {
  const table = (row_count: number) => ({
    format: "csv" as const,
    encoding: "utf-8" as const,
    separator: ",",
    notes: [],
    row_count,
    columns: [],
    rows: [],
  });
  const options = { on_error: "abort" as const, mode: "insert" as const, unknown_experience: "refuse" as const };
  const of = { mapping: ["name"], options, busy: false, isRepeat: false };
  expect(isReady({ ...of, table: table(2) })).toBe(true);
  expect(isReady({ ...of, table: null })).toBe(false);
  expect(isReady({ ...of, table: table(2), isRepeat: true })).toBe(false);
  expect(isReady({ ...of, table: table(0) })).toBe(false);
  expect(isReady({ ...of, table: table(10_001) })).toBe(false);
  expect(isReady({ ...of, table: table(2), mapping: ["title"] })).toBe(false);
  expect(isReady({ ...of, table: table(2), options: { ...options, mode: "upsert" } })).toBe(false);
});
