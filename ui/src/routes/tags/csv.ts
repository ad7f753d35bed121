// The CSV files of an import: read for the preview and the mapping of their columns, and
// written for the service, which parses the rows again when it imports them.

import Papa, { type Parser, type ParseResult } from "papaparse";

export interface Table {
  header: string[];
  rows: string[][];
  /** The number of each row as a spreadsheet shows it; the header is row 1. */
  numbers: number[];
  separator: string;
}

/** Characters that are parsed at a time: a few milliseconds of work, so that the window stays usable. */
const CHUNK = 1_000_000;

/** Spreadsheets write commas or semicolons, by country, and tabs as "text"; databases also bars. */
const SEPARATORS = [",", ";", "\t", "|"];

/** Collects the rows of a table as they are parsed. */
class Rows {
  readonly #rows: string[][] = [];
  readonly #numbers: number[] = [];
  #number = 0;

  add(parsed: readonly string[][]): void {
    for (const row of parsed) {
      this.#number++;
      // An empty line is no row, and a spreadsheet counts it.
      if (row.length === 1 && row[0] === "") continue;
      this.#rows.push(row);
      this.#numbers.push(this.#number);
    }
  }

  table(separator: string): Table {
    const [header = [], ...rows] = this.#rows;
    return { header: header.map((name) => name.trim()), rows, numbers: this.#numbers.slice(1), separator };
  }
}

/** The separator of a file: the one that its header has most. Papa Parse's own guess fails on short files that end in a line break. */
function separatorOf(text: string): string {
  const [header = ""] = text.split(/\r|\n/, 1);
  const times = (separator: string) => header.split(separator).length;
  return SEPARATORS.reduce((best, one) => (times(one) > times(best) ? one : best));
}

const plain = (text: string) => text.replace(/^\uFEFF/, "");

/** Parses a whole text, with quotes, line breaks in quotes, and any of the usual separators. */
export function parseCsv(text: string): Table {
  const rows = new Rows();
  const delimiter = separatorOf(plain(text));
  rows.add(Papa.parse<string[]>(plain(text), { delimiter }).data);
  return rows.table(delimiter);
}

/**
 * The text of a file. A byte order mark says its encoding; without one it is UTF-8, or if it
 * cannot be that, what Excel writes on Windows in western countries.
 */
export function decoded(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Parses a file piece by piece: a large one does not stop the window. */
export async function parseFile(file: Blob): Promise<Table> {
  const text = plain(decoded(await file.arrayBuffer()));
  const rows = new Rows();
  const delimiter = separatorOf(text);
  return new Promise((resolve, reject) => {
    Papa.parse<string[]>(text, {
      delimiter,
      chunkSize: CHUNK,
      chunk({ data }: ParseResult<string[]>, parser: Parser) {
        rows.add(data);
        parser.pause();
        setTimeout(() => parser.resume());
      },
      complete: () => resolve(rows.table(delimiter)),
      error: reject,
    });
  });
}

/** Formats a table, every cell quoted. */
export function formatCsv(header: string[], rows: string[][]): string {
  return Papa.unparse([header, ...rows], { quotes: true });
}

/** Columns that Tapdesk knows. Properties have names such as `variable:KEY`. */
export const columns = [
  "slug",
  "name",
  "title",
  "description",
  "language_code",
  "status",
  "experience_id",
  "experience",
  "verifier_enabled",
  "updates_require_verified",
  "has_qr_code",
  "track_location",
  "location",
  "widget_settings",
  "uid",
  "technology",
  "template",
  "url_template_id",
  "mode",
  "last_counter",
  "mirror",
  "mac_from",
  "meta_key",
  "file_key",
  "master_key_id",
] as const;

const synonyms: Record<string, string> = { id: "slug", code: "slug", address: "slug", label: "name", language: "language_code" };

/** The most likely meaning of a column name; empty if it is none of ours. */
export function guess(name: string): string {
  const plain = name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  const property = /^(attribute|data|variable):([A-Za-z0-9_.-]{1,64})$/.exec(name.trim());
  if (property) return name.trim();
  const known = columns.find((column) => column === plain);
  if (known) return known;
  return synonyms[plain] ?? "";
}
