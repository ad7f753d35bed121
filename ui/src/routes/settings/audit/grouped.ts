// Combines repeated rows of the audit log to one row that can be opened, so that an afternoon of
// field work does not hide who revoked a token.

import type { AuditRow } from "../../../lib/api/types";

/** The number of rows from which they are combined. Two are read as quickly as a summary of two. */
const FEWEST = 3;

export interface Line {
  /** The row's id; for a summary, the negative id of its newest row. */
  id: number;
  /** One row, or the combined rows, newest first. */
  rows: [AuditRow, ...AuditRow[]];
  /** Whether it is a summary. */
  sums: boolean;
  /** Whether it belongs to an open summary. */
  within: boolean;
}

const alike = (one: AuditRow, other: AuditRow) =>
  one.action === other.action && one.actor.kind === other.actor.kind && one.actor.id === other.actor.id && one.address === other.address;

/** Lines of the list; summaries whose id is in `open` are followed by their rows. */
export function grouped(rows: readonly AuditRow[], open: ReadonlySet<number>): Line[] {
  const lines: Line[] = [];
  for (let from = 0; from < rows.length;) {
    let to = from + 1;
    while (to < rows.length && alike(rows[from]!, rows[to]!)) to++;
    const run = rows.slice(from, to) as [AuditRow, ...AuditRow[]];
    const single = (within: boolean) => run.map((row): Line => ({ id: row.id, rows: [row], sums: false, within }));
    if (run.length < FEWEST) lines.push(...single(false));
    else {
      lines.push({ id: -run[0].id, rows: run, sums: true, within: false });
      if (open.has(-run[0].id)) lines.push(...single(true));
    }
    from = to;
  }
  return lines;
}
