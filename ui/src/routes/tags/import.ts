// Sends the rows of a file in pieces, so that a long import shows its progress and
// can be stopped. Results are numbered by the rows of the whole file.

import { upload } from "../../lib/api/client";
import type { TagImportResult, TagImportRow } from "../../lib/api/types";
import { formatCsv, type Table } from "./csv";

export interface Options {
  /** Check all rows and write nothing. */
  dry_run: boolean;
  /** Whether valid rows are imported if others are invalid. */
  on_error: "skip" | "abort";
  /** A row whose slug a tag has already: refuse it, or update the tag. */
  mode: "insert" | "upsert";
  /** An experience that does not exist: refuse the row, or leave the tag without it. */
  unknown_experience: "refuse" | "ignore";
}

const PIECE = 1_000;

export type Summary = Omit<TagImportResult, "dry_run">;

const nothing = (): Summary => ({ rows: 0, results: [], created: 0, updated: 0, refused: 0, left_out: 0, deleted: 0, stopped: null });

/** The rows for the service: the chosen columns under their new names. */
function mapped(table: Table, mapping: string[], from: number, to: number): ArrayBuffer {
  const kept = mapping.map((name, index) => ({ name, index })).filter((column) => column.name !== "");
  const rows = table.rows.slice(from, to).map((row) => kept.map((column) => row[column.index] ?? ""));
  return new TextEncoder().encode(
    formatCsv(
      kept.map((column) => column.name),
      rows,
    ),
  ).buffer as ArrayBuffer;
}

/**
 * Imports `table`. It is sent in one piece if one invalid row refuses all others, and
 * in a dry run, which compares the rows with each other.
 */
export async function importTable(
  table: Table,
  mapping: string[],
  options: Options,
  onprogress: (done: Summary) => void,
  cancelled: () => boolean,
): Promise<Summary> {
  const piece = options.dry_run || options.on_error === "abort" ? table.rows.length : PIECE;
  const sum = nothing();
  for (let from = 0; from < table.rows.length; from += piece) {
    if (cancelled()) {
      sum.stopped = "Stopped. The rows so far are imported.";
      break;
    }
    const to = Math.min(from + piece, table.rows.length);
    const part = await upload("/tags/import", mapped(table, mapping, from, to), "text/csv", { ...options });
    const results = part.results.map((row): TagImportRow => ({ ...row, row: table.numbers[from + row.row - 2] ?? row.row }));
    sum.results.push(...results);
    for (const count of ["rows", "created", "updated", "refused", "left_out", "deleted"] as const) sum[count] += part[count];
    sum.stopped = part.stopped ?? null;
    onprogress(sum);
    if (sum.stopped) break;
  }
  return sum;
}
