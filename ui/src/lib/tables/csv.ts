// The common rules for tables of tags, which the service parses, and the files that are created
// here.

import Papa from "papaparse";

/** Formats a table, every cell quoted. */
export function formatCsv(header: string[], rows: string[][]): string {
  return Papa.unparse([header, ...rows], { quotes: true });
}

/** The service's question to a person, without the hint for API users. */
export const question = (detail: string): string => detail.replace(/ Say (counter=|technology,).*$/, "");
