// Sends the rows of a file in pieces, so that a long import shows its progress and
// can be stopped. Results are numbered by the rows of the whole file.

import { upload } from "../../lib/api/client";
import { Problem, wordsOf } from "../../lib/api/problem";
import type { TagImportResult, TagImportRow } from "../../lib/api/types";
import { count } from "../../lib/ui/format";
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

export interface Summary extends Omit<TagImportResult, "dry_run"> {
  /** The index of the row that it ended at; `null` if no row is left to be sent. */
  next: number | null;
}

const nothing = (): Summary => ({
  next: 0,
  rows: 0,
  results: [],
  created: 0,
  updated: 0,
  refused: 0,
  left_out: 0,
  deleted: 0,
  stopped: null,
});

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
 * in a dry run, which compares the rows with each other. What ended early goes on
 * after the rows that are in `before`. A failure of the first piece is thrown.
 */
export async function importTable(
  table: Table,
  mapping: string[],
  options: Options,
  onprogress: (done: Summary) => void,
  cancelled: () => boolean,
  before: Summary | null = null,
): Promise<Summary> {
  const whole = options.dry_run || options.on_error === "abort";
  const piece = whole ? table.rows.length : PIECE;
  const sum: Summary = { ...nothing(), ...before, stopped: null };
  sum.results = [...sum.results];
  while (sum.next !== null && sum.next < table.rows.length && !sum.stopped) {
    const from = sum.next;
    if (cancelled()) {
      sum.stopped = "Stopped. The rows so far are imported.";
      break;
    }
    const to = Math.min(from + piece, table.rows.length);
    let part: TagImportResult;
    try {
      part = await upload("/tags/import", mapped(table, mapping, from, to), "text/csv", { ...options });
    } catch (error) {
      if (from === 0) throw error;
      sum.stopped = `${wordsOf(error)}${unheard(error, table, from, to)}`;
      break;
    }
    const results = part.results.map((row): TagImportRow => ({ ...row, row: table.numbers[from + row.row - 2] ?? row.row }));
    sum.results.push(...results);
    for (const name of ["rows", "created", "updated", "refused", "left_out", "deleted"] as const) sum[name] += part[name];
    sum.stopped = part.stopped ?? null;
    // All or none: the service goes on with the others by itself.
    const done = part.stopped && !whole ? from + part.results.length : to;
    sum.next = done < table.rows.length ? done : null;
    onprogress(sum);
  }
  return sum;
}

/** Nobody knows whether the rows of a piece are in that was not answered. */
function unheard(error: unknown, { numbers }: Table, from: number, to: number): string {
  if (error instanceof Problem && error.status > 0) return "";
  return ` Rows ${count(numbers[from] ?? 0)} to ${count(numbers[to - 1] ?? 0)} may be imported: look for them before you import the rest.`;
}
