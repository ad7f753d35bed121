// The common rules for tables of tags, which the service parses, and the files that are created
// here.

import Papa from "papaparse";

/** Formats a table, every cell quoted. */
export function formatCsv(header: string[], rows: string[][]): string {
  return Papa.unparse([header, ...rows], { quotes: true });
}

/** The service's question to a person, without the hint for API users. */
export const question = (detail: string): string => detail.replace(/ Say (counter=|technology,).*$/, "");

/** A note of the service on a file, with the way of the screen in place of the parameters of the API. */
export const noteWords = (note: string): string =>
  note.replace(/ import with preset=csv and map=.*:slug\.$/, " choose Plain CSV under “Exported by”, and import this column as the slug.");
