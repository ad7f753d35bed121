// A CSV reader for the preview of an import and the mapping of its columns. The
// service parses the rows again when it imports them.

export interface Table {
  header: string[];
  rows: string[][];
  /** The number of each row as a spreadsheet shows it; the header is row 1. */
  numbers: number[];
  separator: string;
}

/** Parses `text`, with quotes, line breaks in quotes, and comma or semicolon as separator. */
export function parseCsv(text: string, most = Infinity): Table {
  const plain = text.replace(/^\uFEFF/, "");
  const firstLine = plain.slice(0, (plain.indexOf("\n") + 1 || plain.length + 1) - 1);
  const separator = firstLine.split(";").length > firstLine.split(",").length ? ";" : ",";
  const rows: string[][] = [];
  const numbers: number[] = [];
  let number = 0;
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    number++;
    if (row.length > 1 || row[0] !== "") {
      rows.push(row);
      numbers.push(number);
    }
    row = [];
  };
  for (let index = 0; index < plain.length && rows.length <= most; index++) {
    const sign = plain[index];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (plain[index + 1] === '"') {
        cell += '"';
        index++;
      } else quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === separator) endCell();
    else if (sign === "\n") endRow();
    else if (sign !== "\r") cell += sign;
  }
  if (cell !== "" || row.length > 0) endRow();
  const [header = [], ...rest] = rows;
  return { header: header.map((name) => name.trim()), rows: rest, numbers: numbers.slice(1), separator };
}

/** Formats a table, every cell quoted. */
export function formatCsv(header: string[], rows: string[][]): string {
  const line = (cells: string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",");
  return [header, ...rows].map(line).join("\r\n");
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
  const plain = name.trim().toLowerCase().replaceAll(/[\s-]+/g, "_");
  const property = /^(attribute|data|variable):([A-Za-z0-9_.-]{1,64})$/.exec(name.trim());
  if (property) return name.trim();
  const known = columns.find((column) => column === plain);
  if (known) return known;
  return synonyms[plain] ?? "";
}
