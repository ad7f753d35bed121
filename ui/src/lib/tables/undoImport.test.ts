import { beforeEach, expect, test, vi } from "vitest";
import type { TagImportRow } from "../api/types";

const deleted: unknown[][] = [];
/** The status of each group that the service does not delete. */
const kept = new Map<number, number>();
/** Groups with a picture of their own. */
const pictured = new Set<number>();
vi.mock("../api/client", async (original) => ({
  ...(await original<typeof import("../api/client")>()),
  get: async (_: string, { id }: { id: number }) => ({ image: { group_id: pictured.has(id) ? id : 1 } }),
  remove: async (path: string, { id }: { id: number }, etag: string) => {
    const status = kept.get(id);
    if (status !== undefined) throw new Problem(status, "It stays.");
    deleted.push([path, id, etag]);
  },
}));

const { Problem } = await import("../api/problem");
const { changedBy, createdBy, deleteGroups, formerTable, rangesOf, undoWords } = await import("./undoImport");

beforeEach(() => {
  deleted.splice(0);
  kept.clear();
  pictured.clear();
});

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
  expect(formerTable(changed).split("\r\n")).toEqual(['"slug","data:a","name","title"', '"\'b","(delete)","Old",""', '"\'c","","","\'=T"']);
  expect(undoWords({ results: rows, created_groups: [] })).toBe(
    "Undo deletes 1 new tag, deletes 1 new inlay for good and restores the former values of 2 tags, even where they were changed again since.",
  );
  const refused: TagImportRow[] = [{ row: 2, outcome: "refused", reason: "" }];
  expect(undoWords({ results: refused, created_groups: [] })).toBe("");
  expect(undoWords({ results: refused, created_groups: groups })).toBe("Undo deletes 3 new groups unless used or changed since.");
});

const groups = [5, 6, 7].map((id) => ({ id, etag: `"${id}"` }));

test("new groups are deleted from below, as they were created, and those in use stay", async () => {
  const work = { done: 0, stopping: false };
  kept.set(6, 409);
  await deleteGroups(groups, work);
  expect(deleted).toEqual([
    ["/groups/{id}", 7, '"7"'],
    ["/groups/{id}", 5, '"5"'],
  ]);
  expect(work.done).toBe(3);
  kept.set(7, 412).set(5, 404);
  await deleteGroups(groups, work);
  kept.set(7, 503);
  await expect(deleteGroups(groups, work)).rejects.toThrow("It stays.");
  await expect(deleteGroups(groups, { done: 0, stopping: true })).rejects.toThrow("Stopped.");
});

test("a new group that got a picture since stays", async () => {
  pictured.add(7);
  await deleteGroups(groups, { done: 0, stopping: false });
  expect(deleted.map(([, id]) => id)).toEqual([6, 5]);
});

test("ids are sent as ranges", () => {
  expect(rangesOf([5, 3, 4, 9, 8, 1])).toEqual([
    [1, 1],
    [3, 5],
    [8, 9],
  ]);
  expect(rangesOf([])).toEqual([]);
});
