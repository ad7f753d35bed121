// Sends the rows of a file piece by piece, so that a long import shows how far
// it is and can be stopped. What a piece came to is counted in the file's rows.

import { upload } from "../../lib/api/client";
import type { TagImportResult, TagImportRow } from "../../lib/api/types";
import { formatCsv, type Table } from "./csv";

export interface Options {
  /** Check everything, and write nothing. */
  dry_run: boolean;
  /** Whether good rows go in where others are bad. */
  on_error: "skip" | "abort";
  /** What a row means whose address a tag has. */
  mode: "insert" | "upsert";
  /** What an experience means that there is not. */
  unknown_experience: "refuse" | "ignore";
}

const PIECE = 1_000;

export type Summary = Omit<TagImportResult, "dry_run">;

const nothing = (): Summary => ({ rows: 0, results: [], created: 0, updated: 0, refused: 0, left_out: 0, deleted: 0, stopped: null });

/** Rows as the service is sent them: the chosen columns under their new names. */
function mapped(table: Table, mapping: string[], from: number, to: number): ArrayBuffer {
  const kept = mapping.map((name, index) => ({ name, index })).filter((column) => column.name !== "");
  const rows = table.rows.slice(from, to).map((row) => kept.map((column) => row[column.index] ?? ""));
  return new TextEncoder().encode(formatCsv(kept.map((column) => column.name), rows)).buffer as ArrayBuffer;
}

/**
 * Imports `table`. Where one bad row keeps all others out, and in a check, whose
 * rows are compared with each other, everything goes in one piece.
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
      sum.stopped = "It was stopped here. The rows before this one are done.";
      break;
    }
    const to = Math.min(from + piece, table.rows.length);
    const part = await upload<TagImportResult>("/tags/import", mapped(table, mapping, from, to), "text/csv", { ...options });
    const results = part.results.map((row): TagImportRow => ({ ...row, row: table.numbers[from + row.row - 2] ?? row.row }));
    sum.results.push(...results);
    for (const count of ["rows", "created", "updated", "refused", "left_out", "deleted"] as const) sum[count] += part[count];
    sum.stopped = part.stopped ?? null;
    onprogress(sum);
    if (sum.stopped) break;
  }
  return sum;
}
