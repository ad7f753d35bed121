// The formats of exports for spreadsheets.

export const formats = ["xlsx", "csv"] as const;
export type TableFormat = (typeof formats)[number];

/** The names of the formats in menus. */
export const formatNames: Record<TableFormat, string> = { xlsx: "Spreadsheet (.xlsx)…", csv: "CSV…" };

/**
 * The number of exported rows, from the line ends of the file without its header; null for a
 * workbook, whose lines are compressed.
 */
export const rowsOf = (format: TableFormat, lines: number): number | null => (format === "csv" ? Math.max(0, lines - 1) : null);
