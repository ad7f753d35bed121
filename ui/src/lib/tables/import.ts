// Sends a file unchanged, and has its rows imported in parts, so that a long import shows its
// progress and can be stopped. The service parses the file into columns and rows.

import { upload } from "../api/client";
import { Problem, wordsOf } from "../api/problem";
import type { ImportTable, TagImportResult, Technology } from "../api/types";
import { count, counted } from "../format/format";

export interface Options {
  /** Check all rows, and write nothing. */
  dry_run: boolean;
  /** Whether valid rows are imported if others are invalid. */
  on_error: "skip" | "abort";
  /** A row whose slug already belongs to a tag: refuse it, or update the tag. */
  mode: "insert" | "upsert";
  /** An experience that does not exist: refuse the row, or leave the tag without it. */
  unknown_experience: "refuse" | "ignore";
  /** Whether groups that do not exist are created; otherwise their rows are refused. */
  create_groups?: boolean;
  /** The number format of counters; empty if their column determines it. */
  counter?: "" | "hex" | "decimal";
  /** The chip of rows with a UID that name none; empty if there are no such rows. */
  technology?: "" | Technology;
  /** The URL template of such rows, which defines their chip; null if there is none. */
  url_template_id?: number | null;
  /** Whether rows with a UID may have factory keys, whose codes prove nothing. */
  allow_factory_keys?: boolean;
}

/** Settings for all inlays of a file, for values that the file lacks. */
export interface Common {
  preset?: string;
  url_template_id?: number;
  /** The master key, if the file has no keys. */
  master_key_id?: number | null;
  /** Whether tags that are assigned to an experience get the variables of its page. */
  add_variables?: boolean;
}

/** A file, and its interpretation. */
export interface Source {
  bytes: ArrayBuffer;
  table: ImportTable;
  /** The meaning of each column; empty to leave it out. `null` to use the headings. */
  mapping: readonly string[] | null;
  common?: Common;
}

/** The media type of an uploaded table. The service knows its kind from its bytes. */
export const FILE_TYPE = "application/octet-stream";

/** Rows of the smallest part. */
const PART = 1_000;
/** Most parts of a file, because the whole file is sent with each part. */
const PARTS = 20;

export interface Summary extends Omit<TagImportResult, "dry_run"> {
  /** The number of the last row before the rest; `null` if no row is left to be imported. */
  next: number | null;
}

/** Counts that are summed over the parts. */
const counts = [
  "created",
  "updated",
  "refused",
  "left_out",
  "deleted",
  "variables_added",
  "tags_with_added_variables",
  "groups_created",
] as const;

const nothing = ({ format, encoding, separator }: ImportTable): Summary => ({
  next: 0,
  rows: 0,
  format,
  encoding: encoding ?? null,
  separator: separator ?? null,
  ignored_columns: [],
  notes: [],
  results: [],
  created: 0,
  updated: 0,
  refused: 0,
  left_out: 0,
  deleted: 0,
  variables_added: 0,
  tags_with_added_variables: 0,
  groups_created: 0,
  created_groups: [],
  stopped: null,
});

/**
 * Imports a file. All rows are one part if one invalid row refuses all others, and in a dry run,
 * which compares the rows with each other. An import that ended early continues after the rows in
 * `before`. Throws a failure of the first part.
 */
export async function importTable(
  { bytes, table, mapping, common }: Source,
  options: Options,
  onprogress: (done: Summary) => void,
  cancelled: () => boolean,
  before: Summary | null = null,
): Promise<Summary> {
  const whole = options.dry_run || options.on_error === "abort";
  const part = Math.max(PART, Math.ceil(table.row_count / PARTS));
  const map = mapping && table.columns.map(({ heading }, index) => `${heading}:${mapping[index] ?? ""}`);
  const sum: Summary = { ...nothing(table), ...before, stopped: null };
  sum.results = [...sum.results];
  sum.created_groups = [...sum.created_groups];
  while (sum.next !== null && !sum.stopped) {
    if (cancelled()) {
      sum.stopped = sum.next === 0 ? "Stopped. Nothing was imported." : "Stopped. The rows so far are imported.";
      break;
    }
    let done: TagImportResult;
    try {
      const rows = whole ? {} : { after_row: sum.next, max_rows: part };
      done = await upload("/tags/import", bytes, FILE_TYPE, { ...options, ...common, ...(map && { map }), ...rows });
    } catch (error) {
      if (sum.next === 0) throw error;
      sum.stopped = `${stoppedBy(error)}${unheard(error, sum.next, part)}`;
      break;
    }
    sum.results.push(...done.results);
    sum.rows += done.results.length;
    for (const name of counts) sum[name] += done[name];
    sum.created_groups.push(...done.created_groups);
    sum.notes = done.notes;
    sum.ignored_columns = done.ignored_columns;
    sum.stopped = done.stopped ?? null;
    // All or none: the service imports the other rows without further requests.
    const ended = sum.rows >= table.row_count || done.results.length === 0 || (sum.stopped !== null && whole);
    sum.next = ended ? null : (sum.results.at(-1)?.row ?? 0);
    onprogress(sum);
  }
  return sum;
}

/** The result in one sentence: the written rows, and the others. */
export function importedWords({ created, updated, refused, left_out, groups_created }: Summary, noun: string): string {
  const done = [
    ...(created > 0 ? [`${counted(created, noun)} created`] : []),
    ...(updated > 0 ? [`${counted(updated, noun)} changed`] : []),
    ...(groups_created > 0 ? [`${counted(groups_created, "group")} created`] : []),
  ].join(", ");
  const out = refused + left_out;
  const rest = out > 0 ? `${counted(out, "row")} not imported` : "";
  return done ? `${done}${rest && `, ${rest}`}.` : `Nothing was imported${rest && `: ${rest}`}.`;
}

/**
 * The reason why a later part failed. "Nothing was written" refers only to that part: the parts
 * before it are imported.
 */
const stoppedBy = (error: unknown): string =>
  error instanceof Problem && error.code === "disk_full" ? "The disk is full. Make room, then import the rest." : wordsOf(error);

/** If a part's response was lost, it is unknown whether its rows were imported. */
function unheard(error: unknown, after: number, rows: number): string {
  if (error instanceof Problem && error.status > 0) return "";
  return ` Up to ${count(rows)} rows after row ${count(after)} may be imported: look for them before you import the rest.`;
}
