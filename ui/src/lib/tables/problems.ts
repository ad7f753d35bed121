// The remarks on the rows of an import, in groups: a thousand rows rarely have more than a few
// different problems.

import type { TagImportRow } from "../api/types";

export type Kind = "refused" | "deletes" | "warning";

export interface Problem {
  kind: Kind;
  /** The text, which is the same for all of its rows. */
  text: string;
  /** The numbers of its rows, like in a spreadsheet. */
  rows: number[];
}

const order: Kind[] = ["refused", "deletes", "warning"];

/**
 * A message about a row, after the headings of the columns that it concerns. A column whose heading
 * is its name in Tapdesk is in the message already.
 */
export function inFileWords({ columns }: Pick<TagImportRow, "columns">, text: string): string {
  const headings = (columns ?? []).filter(({ column, heading }) => heading !== column).map(({ heading }) => `“${heading}”`);
  if (headings.length === 0) return text;
  return `${headings.length === 1 ? "Column" : "Columns"} ${headings.join(", ")}: ${text}`;
}

/** The remarks on a row, by kind. */
function* remarks(row: TagImportRow): Generator<[Kind, string]> {
  if (row.outcome === "refused") yield ["refused", inFileWords(row, row.reason)];
  if ("deleted" in row && row.deleted?.length) yield ["deletes", `Deletes ${row.deleted.join(", ")}.`];
  if ("warning" in row && row.warning) yield ["warning", inFileWords(row, row.warning)];
}

/** The problems of all rows: refused ones first, and of each kind the most frequent first. */
export function problemsOf(results: readonly TagImportRow[]): Problem[] {
  const found = new Map<string, Problem>();
  for (const row of results) {
    for (const [kind, text] of remarks(row)) {
      const key = `${kind} ${text}`;
      const problem = found.get(key) ?? { kind, text, rows: [] };
      problem.rows.push(row.row);
      found.set(key, problem);
    }
  }
  return [...found.values()].sort(
    (one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || other.rows.length - one.rows.length,
  );
}

/** The first rows in words: "Rows 5, 55, 105 and 2 more". */
export function rowsInWords(rows: readonly number[], most = 6): string {
  if (rows.length === 1) return `Row ${rows[0]}`;
  if (rows.length <= most) return `Rows ${rows.slice(0, -1).join(", ")} and ${rows.at(-1)}`;
  return `Rows ${rows.slice(0, most).join(", ")} and ${(rows.length - most).toLocaleString("en")} more`;
}
