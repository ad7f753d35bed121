import { expect, test } from "vitest";
import type { TagImportRow } from "../api/types";
import { changedBy, createdBy, formerTable, rangesOf, undoWords } from "./undoImport";

test("an import's new tags and inlays are those of its rows", () => {
  const rows = [
    { row: 2, outcome: "created", id: 7, slug: "a", inlay_id: 70 },
    { row: 3, outcome: "updated", id: 3, slug: "b" },
    { row: 4, outcome: "updated", id: 4, slug: "c", inlay_id: 71 },
    { row: 5, outcome: "refused", reason: "It is bad." },
    { row: 6, outcome: "created", id: 8, slug: "d" },
  ] as TagImportRow[];
  expect(createdBy(rows)).toEqual({ tags: [7, 8], inlays: [70, 71] });
});

test("an undo restores former values, and says so", () => {
  const rows = [
    { row: 2, outcome: "created", id: 7, slug: "a", inlay_id: 70 },
    { row: 3, outcome: "updated", id: 3, slug: "b", before: { name: "Old", "data:a": "(delete)" } },
    { row: 4, outcome: "updated", id: 4, slug: "c", before: { title: "'=T" } },
    { row: 5, outcome: "updated", id: 5, slug: "same" },
  ] as unknown as TagImportRow[];
  const changed = changedBy(rows);
  expect(formerTable(changed).split("\r\n")).toEqual(['"slug","data:a","name","title"', '"b","(delete)","Old",""', '"c","","","\'=T"']);
  expect(undoWords(rows)).toBe(
    "Undo deletes 1 new tag, deletes 1 new inlay for good and restores the former values of 2 tags, even where they were changed again since.",
  );
  expect(undoWords([{ row: 2, outcome: "refused", reason: "" }])).toBe("");
});

test("ids are sent as ranges", () => {
  expect(rangesOf([5, 3, 4, 9, 8, 1])).toEqual([
    [1, 1],
    [3, 5],
    [8, 9],
  ]);
  expect(rangesOf([])).toEqual([]);
});
