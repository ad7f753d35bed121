// The tags of a run from a file: an import of all rows or none, so that a run never begins with
// half of its tags.

import type { TagImportRow } from "../../lib/api/types";
import type { ImportRun } from "../../lib/tables/importRun.svelte";

/** Most tags of one run. */
export const RUN_MAX = 10_000;

/** The column that the import requires. */
export const needed = ({ options }: Pick<ImportRun, "options">) => (options.mode === "upsert" ? "slug" : "name");

export const isTooLong = ({ table }: Pick<ImportRun, "table">) => (table?.row_count ?? 0) > RUN_MAX;

/** Whether the file can be imported as it is mapped. */
export const isReady = (run: Pick<ImportRun, "table" | "mapping" | "options" | "busy" | "isRepeat">) =>
  run.table !== null && run.table.row_count > 0 && !isTooLong(run) && !run.busy && !run.isRepeat && run.mapping.includes(needed(run));

/** The tags of the rows, in the order of the file; a tag of two rows comes once. */
export function tagsInOrder(results: TagImportRow[]): number[] {
  const rows = [...results].sort((a, b) => a.row - b.row);
  return [...new Set(rows.flatMap((row) => ("id" in row && row.id ? [row.id] : [])))];
}

/**
 * Imports the rows and returns their tags; null if a row was refused, which the import shows.
 * Imported rows are remembered: if only the run could not be created, the next attempt does not
 * import them twice.
 */
export async function importedTags(run: ImportRun): Promise<number[] | null> {
  run.options.on_error = "abort";
  const result = run.step === "done" && run.result?.refused === 0 ? run.result : await run.start(false);
  const whole = result && result.refused === 0 && !result.stopped;
  return whole ? tagsInOrder(result.results) : null;
}
