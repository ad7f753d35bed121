// Undoes an import. Its new tags are deleted, and can be restored from the deleted tags. Its new
// inlays are deleted permanently, so that the file can be imported again. Changed values are
// restored by an import of the former ones, which the import's response contains. Groups that it
// created are deleted if nothing else is in them, and nobody changed them.

import { get, remove, upload } from "../api/client";
import { Problem } from "../api/problem";
import type { TagBulkRequest, TagImportResult, TagImportRow } from "../api/types";
import { works, type Work } from "../window/works.svelte";
import { counted } from "../format/format";
import { sendAll } from "./bulk";
import { formatCsv } from "./csv";
import { FILE_TYPE, importTable } from "./import";

/** Ranges of ids per request: the tags of a file mostly have one range. */
const RANGES = 1_000;

/** The part of an import's result by which it is undone. */
export type Done = Pick<TagImportResult, "results" | "created_groups">;

/** The ids and inlays that an import created. */
export function createdBy(results: readonly TagImportRow[]): { tags: number[]; inlays: number[] } {
  const tags = results.flatMap((row) => (row.outcome === "created" && row.id != null ? [row.id] : []));
  const inlays = results.flatMap((row) =>
    (row.outcome === "created" || row.outcome === "updated") && row.inlay_id != null ? [row.inlay_id] : [],
  );
  return { tags, inlays };
}

/** Tags whose values an import changed, with their former cells. */
export const changedBy = (results: readonly TagImportRow[]): { slug: string; before: Record<string, string> }[] =>
  results.flatMap((row) => (row.outcome === "updated" && row.slug != null && row.before ? [{ slug: row.slug, before: row.before }] : []));

/** The effect of an undo, in one sentence; empty if there is nothing to undo. */
export function undoWords({ results, created_groups }: Done): string {
  const { tags, inlays } = createdBy(results);
  const changed = changedBy(results).length;
  const parts = [
    ...(tags.length > 0 ? [`deletes ${counted(tags.length, "new tag")}`] : []),
    ...(inlays.length > 0 ? [`deletes ${counted(inlays.length, "new inlay")} for good`] : []),
    ...(created_groups.length > 0 ? [`deletes ${counted(created_groups.length, "new group")} unless used or changed since`] : []),
    ...(changed > 0 ? [`restores the former values of ${counted(changed, "tag")}, even where they were changed again since`] : []),
  ];
  const last = parts.pop();
  if (last === undefined) return "";
  return `Undo ${parts.length > 0 ? `${parts.join(", ")} and ` : ""}${last}.`;
}

/**
 * A table that restores these tags; an empty cell leaves a value unchanged. An import takes a slug after
 * an apostrophe as it is, even if it looks like a number or a date.
 */
export function formerTable(changed: ReturnType<typeof changedBy>): string {
  const columns = [...new Set(changed.flatMap(({ before }) => Object.keys(before)))].sort();
  const rows = changed.map(({ slug, before }) => [`'${slug}`, ...columns.map((column) => before[column] ?? "")]);
  return formatCsv(["slug", ...columns], rows);
}

/** Restores the values that an import changed. */
async function restore(results: readonly TagImportRow[], work: Pick<Work, "done" | "stopping">): Promise<void> {
  const changed = changedBy(results);
  if (changed.length === 0) return;
  const bytes = new TextEncoder().encode(formerTable(changed)).buffer;
  const table = await upload("/tags/import/table", bytes, FILE_TYPE, {});
  const begun = work.done;
  const options = { dry_run: false, on_error: "skip", mode: "upsert", unknown_experience: "refuse" } as const;
  const source = { bytes, table, mapping: null, common: { add_variables: false } };
  const sum = await importTable(
    source,
    options,
    ({ rows }) => (work.done = begun + rows),
    () => work.stopping,
  );
  const refused = sum.results.flatMap((row) => (row.outcome === "refused" ? [row.reason] : []));
  if (refused.length > 0) throw new Error(`${counted(refused.length, "tag")} could not be restored. ${refused[0]}`);
  if (sum.stopped) throw new Error(sum.stopped);
}

/** Ids as ranges, each with its first and last id. */
export function rangesOf(ids: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const id of [...ids].sort((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last && id <= last[1] + 1) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges;
}

/** The requests that delete these tags. */
export function tagDeletions(ids: readonly number[]): TagBulkRequest[] {
  const ranges = rangesOf(ids);
  const requests: TagBulkRequest[] = [];
  for (let from = 0; from < ranges.length; from += RANGES)
    requests.push({ action: "delete", select: { ids: ranges.slice(from, from + RANGES) } });
  return requests;
}

/** Deletes inlays one by one, until all are gone or the person stops it. */
export async function eraseInlays(ids: readonly number[], work: Pick<Work, "done" | "stopping">): Promise<void> {
  for (const id of ids) {
    if (work.stopping) throw new Error("Stopped. The remaining tags and inlays are still there.");
    try {
      await remove("/inlays/{id}", { id });
    } catch (error) {
      // It is already deleted.
      if (!(error instanceof Problem) || error.status !== 404) throw error;
    }
    work.done += 1;
  }
}

/** A group that is gone (404), in use (409) or changed (412) is left as it is. */
const LEFT = [404, 409, 412];

/** Deletes groups that are empty and as they were created, without a picture, those below others first. */
export async function deleteGroups(groups: Done["created_groups"], work: Pick<Work, "done" | "stopping">): Promise<void> {
  for (const { id, etag } of [...groups].reverse()) {
    if (work.stopping) throw new Error("Stopped. The remaining groups are still there.");
    try {
      const { image } = await get("/groups/{id}", { id });
      if (image?.group_id !== id) await remove("/groups/{id}", { id }, etag);
    } catch (error) {
      if (!(error instanceof Problem) || !LEFT.includes(error.status)) throw error;
    }
    work.done += 1;
  }
}

/** Deletes everything that an import created, and restores the values that it changed. */
export async function undoImport(file: string, { results, created_groups: groups }: Done): Promise<void> {
  const { tags, inlays } = createdBy(results);
  const steps = tags.length + inlays.length + changedBy(results).length + groups.length;
  await works.run(`Undoing the import of ${file}`, steps, async (work) => {
    // Inlays are gone for good, so they are deleted after the step that can be refused.
    await restore(results, work);
    await eraseInlays(inlays, work);
    const { stopped } = await sendAll(tagDeletions(tags), work);
    if (stopped) throw stopped;
    // Tags leave the groups first.
    await deleteGroups(groups, work);
  });
}
