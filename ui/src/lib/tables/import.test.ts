import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ImportTable, TagImportResult } from "../api/types";
import type { Options, Source } from "./import";

interface Query {
  map: string[];
  dry_run: boolean;
  after_row?: number;
  max_rows?: number;
}

const sent: { bytes: ArrayBuffer; query: Query }[] = [];
/** The part that fails, counted from 1, and its error. */
let failing: { part: number; error: unknown } | null = null;
/** The rows of the file: their numbers, and whether they are valid. */
let rows: { row: number; bad?: boolean; deletes?: boolean }[] = [];

vi.mock("../api/client", () => ({
  upload: async (_path: string, bytes: ArrayBuffer, _type: string, query: Query): Promise<TagImportResult> => {
    sent.push({ bytes, query });
    if (failing?.part === sent.length) throw failing.error;
    const { after_row = 0, max_rows = rows.length } = query;
    const part = rows.filter(({ row }) => row > after_row).slice(0, max_rows);
    const refused = part.filter(({ bad }) => bad).length;
    return {
      rows: part.length,
      dry_run: false,
      format: "csv",
      encoding: "windows-1252",
      separator: ";",
      ignored_columns: ["colour"],
      notes: ["Check the accents."],
      results: part.map(({ row, bad }) =>
        bad ? { row, outcome: "refused" as const, reason: "It is bad." } : { row, outcome: "created" as const },
      ),
      created: part.length - refused,
      updated: 0,
      refused,
      left_out: 0,
      variables_added: 0,
      tags_with_added_variables: 0,
      groups_created: 0,
      created_groups: [{ id: sent.length, etag: `"${sent.length}"` }],
      deleted: part.filter(({ deletes }) => deletes).length,
    };
  },
}));

const { Problem } = await import("../api/problem");
const { importTable, importedWords } = await import("./import");

const bytes = new Uint8Array([0xff, 0xfe, 0x61]).buffer;
function source(): Source {
  const columns = ["label", "colour"].map((heading) => ({ heading, column: null, guessed: false }));
  const table: ImportTable = {
    format: "csv",
    encoding: "windows-1252",
    separator: ";",
    notes: [],
    row_count: rows.length,
    columns,
    rows: [],
  };
  return { bytes, table, mapping: ["name", ""] };
}
const skip: Options = { dry_run: false, on_error: "skip", mode: "insert", unknown_experience: "refuse" };
const run = (options = skip, onprogress: (done: { rows: number }) => void = () => {}, cancelled = () => false) =>
  importTable(source(), options, onprogress, cancelled);

beforeEach(() => {
  sent.splice(0);
  failing = null;
  rows = Array.from({ length: 2_500 }, (_, index) => ({ row: index + 2 }));
});

describe("an import", () => {
  it("sends the bytes of the file as they are, and what its columns mean", async () => {
    rows = [{ row: 2 }];
    const sum = await run();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.bytes).toBe(bytes);
    expect(sent[0]?.query.map).toEqual(["label:name", "colour:"]);
    expect(sum).toMatchObject({ notes: ["Check the accents."], ignored_columns: ["colour"], next: null });
  });

  it("is asked for in parts, and reports progress by the rows of the file", async () => {
    rows[0]!.bad = rows[2_400]!.bad = true;
    const seen: number[] = [];
    const sum = await run(skip, (done) => seen.push(done.rows));
    expect(seen).toEqual([1_000, 2_000, 2_500]);
    expect(sent.map(({ query }) => query.after_row)).toEqual([0, 1_001, 2_001]);
    expect(sum).toMatchObject({ rows: 2_500, created: 2_498, refused: 2, stopped: null });
    expect(sum.results.filter((row) => row.outcome === "refused").map((row) => row.row)).toEqual([2, 2_402]);
  });

  it("of a large file has few parts, because the file is sent with each of them", async () => {
    rows = Array.from({ length: 50_000 }, (_, index) => ({ row: index + 2 }));
    expect(await run()).toMatchObject({ rows: 50_000, next: null });
    expect(sent).toHaveLength(20);
  });

  it("counts what is deleted over all parts", async () => {
    rows[0]!.deletes = rows[1_000]!.deletes = true;
    expect((await run()).deleted).toBe(2);
  });

  it("can be stopped between two parts", async () => {
    const sum = await run(
      skip,
      () => {},
      () => sent.length > 0,
    );
    expect(sum.rows).toBe(1_000);
    expect(sum.stopped).toMatch(/Stopped/);
  });

  it("that fails keeps what is imported, says where it ended, and goes on from there", async () => {
    rows[2_400]!.bad = true;
    failing = { part: 2, error: new Problem(503, "The disk is full.") };
    const half = await run();
    expect(half).toMatchObject({ rows: 1_000, created: 1_000, next: 1_001, stopped: "The disk is full." });
    failing = null;
    const whole = await importTable(
      source(),
      skip,
      () => {},
      () => false,
      half,
    );
    expect(whole).toMatchObject({ rows: 2_500, created: 2_499, refused: 1, next: null, stopped: null });
    expect(whole.results.at(-1)?.row).toBe(2_501);
    // Each request but the second one, which failed, created a group.
    expect(whole.created_groups.map(({ id }) => id)).toEqual([1, 3, 4]);
    expect(half.created_groups).toHaveLength(1);
  });

  it("says which rows nobody heard of", async () => {
    failing = { part: 2, error: new Problem(0, "The service does not answer.") };
    const sum = await run();
    expect(sum.stopped).toMatch(/^The service does not answer\. Up to 1,000 rows after row 1,001 may be imported/);
  });

  it("that fills the disk does not say that nothing was written", async () => {
    failing = { part: 2, error: new Problem(507, "The disk is full. Nothing was written; make room and try again.", "disk_full") };
    const half = await run();
    expect(half.created).toBe(1_000);
    expect(half.stopped).toBe("The disk is full. Make room, then import the rest.");
  });

  it("says in one sentence what was written, and what was not", async () => {
    rows[0]!.bad = true;
    expect(importedWords(await run(), "tag")).toBe("2,499 tags created, 1 row not imported.");
    rows = [{ row: 2, bad: true }];
    expect(importedWords(await run(), "tag")).toBe("Nothing was imported: 1 row not imported.");
    rows = [{ row: 2 }];
    expect(importedWords(await run(), "inlay")).toBe("1 inlay created.");
  });

  it("whose first part fails has imported nothing", async () => {
    failing = { part: 1, error: new Problem(503, "The disk is full.") };
    await expect(run()).rejects.toThrow("The disk is full.");
  });

  it.each([
    { ...skip, dry_run: true },
    { ...skip, on_error: "abort" as const },
  ])("has one part if rows depend on each other: %o", async (options) => {
    expect(await run(options)).toMatchObject({ rows: 2_500, next: null });
    expect(sent).toHaveLength(1);
  });
});
