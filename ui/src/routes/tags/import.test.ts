import { beforeEach, describe, expect, it, vi } from "vitest";
import type { TagImportResult } from "../../lib/api/types";
import { parseCsv } from "./csv";

const sent: string[] = [];
/** The piece that fails, counted from 1, and how. */
let failing: { piece: number; error: unknown } | null = null;

vi.mock("../../lib/api/client", () => ({
  upload: async (_path: string, bytes: ArrayBuffer): Promise<TagImportResult> => {
    const text = new TextDecoder().decode(bytes);
    sent.push(text);
    if (failing?.piece === sent.length) throw failing.error;
    const rows = parseCsv(text).rows;
    const results = rows.map(([name], index) =>
      name === "bad"
        ? { row: index + 2, outcome: "refused" as const, reason: "It is bad." }
        : { row: index + 2, outcome: "created" as const },
    );
    const refused = rows.filter(([name]) => name === "bad").length;
    return {
      rows: rows.length,
      dry_run: false,
      results,
      created: rows.length - refused,
      updated: 0,
      refused,
      left_out: 0,
      deleted: rows.filter(([name]) => name === "less").length,
    };
  },
}));

const { Problem } = await import("../../lib/api/problem");
const { importTable } = await import("./import");

const table = (rows: number, bad: number[] = []) =>
  parseCsv(["label;colour", ...Array.from({ length: rows }, (_, row) => `${bad.includes(row) ? "bad" : "tag"};red`)].join("\n"));
const skip = { dry_run: false, on_error: "skip", mode: "insert", unknown_experience: "refuse" } as const;

beforeEach(() => {
  sent.splice(0);
  failing = null;
});

describe("an import", () => {
  it("sends the chosen columns under their new names", async () => {
    await importTable(
      table(1),
      ["name", ""],
      skip,
      () => {},
      () => false,
    );
    expect(sent).toEqual(['"name"\r\n"tag"']);
  });

  it("is sent in pieces, reports progress, and numbers rows as in the file", async () => {
    const seen: number[] = [];
    const sum = await importTable(
      table(2_500, [0, 2_400]),
      ["name", ""],
      skip,
      (done) => seen.push(done.rows),
      () => false,
    );
    expect(seen).toEqual([1_000, 2_000, 2_500]);
    expect(sum).toMatchObject({ rows: 2_500, created: 2_498, refused: 2, stopped: null });
    expect(sum.results.filter((row) => row.outcome === "refused").map((row) => row.row)).toEqual([2, 2_402]);
  });

  it("counts what is deleted over all pieces", async () => {
    const rows = Array.from({ length: 1_500 }, (_, row) => (row % 1_000 === 0 ? "less" : "tag"));
    const sum = await importTable(
      parseCsv(["name", ...rows].join("\n")),
      ["name"],
      skip,
      () => {},
      () => false,
    );
    expect(sum.deleted).toBe(2);
  });

  it("can be stopped between two pieces", async () => {
    const sum = await importTable(
      table(2_500),
      ["name", ""],
      skip,
      () => {},
      () => sent.length > 0,
    );
    expect(sum.rows).toBe(1_000);
    expect(sum.stopped).toMatch(/Stopped/);
  });

  it("that fails keeps what is imported, says where it ended, and goes on from there", async () => {
    failing = { piece: 2, error: new Problem(503, "The disk is full.") };
    const rows = table(2_500, [2_400]);
    const half = await importTable(
      rows,
      ["name", ""],
      skip,
      () => {},
      () => false,
    );
    expect(half).toMatchObject({ rows: 1_000, created: 1_000, next: 1_000, stopped: "The disk is full." });
    failing = null;
    const whole = await importTable(
      rows,
      ["name", ""],
      skip,
      () => {},
      () => false,
      half,
    );
    expect(whole).toMatchObject({ rows: 2_500, created: 2_499, refused: 1, next: null, stopped: null });
    expect(whole.results.at(-1)?.row).toBe(2_501);
  });

  it("says which rows nobody heard of", async () => {
    failing = { piece: 2, error: new Problem(0, "The service does not answer.") };
    const sum = await importTable(
      table(2_500),
      ["name", ""],
      skip,
      () => {},
      () => false,
    );
    expect(sum.stopped).toMatch(/^The service does not answer\. Rows 1,002 to 2,001 may be imported/);
  });

  it("whose first piece fails has imported nothing", async () => {
    failing = { piece: 1, error: new Problem(503, "The disk is full.") };
    const importing = importTable(
      table(2_500),
      ["name", ""],
      skip,
      () => {},
      () => false,
    );
    await expect(importing).rejects.toThrow("The disk is full.");
  });

  it.each([
    { ...skip, dry_run: true },
    { ...skip, on_error: "abort" as const },
  ])("is sent in one piece if rows depend on each other: %o", async (options) => {
    await importTable(
      table(2_500),
      ["name", ""],
      options,
      () => {},
      () => false,
    );
    expect(sent).toHaveLength(1);
  });

  it("counts empty lines as a spreadsheet does", async () => {
    const sum = await importTable(
      parseCsv("name\n\na\n\nbad"),
      ["name"],
      skip,
      () => {},
      () => false,
    );
    expect(sum.results.map((row) => row.row)).toEqual([3, 5]);
  });
});
