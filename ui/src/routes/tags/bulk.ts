import { post } from "../../lib/api/client";
import type { TagBulkChange, TagBulkResult } from "../../lib/api/types";
import { count, counted } from "../../lib/format";
import { notices } from "../../lib/notices.svelte";

/** Does something to many tags at once, and offers to undo it. */
export async function bulk(change: TagBulkChange, done: string, after: () => Promise<void>): Promise<void> {
  const result = await post<TagBulkResult>("/tags/bulk", change);
  await after();
  const undo = async () => {
    for (const step of result.undo) await post("/tags/bulk", step);
    await after();
  };
  const rest = result.selected - result.changed;
  const already = rest > 0 && !result.stopped ? `; ${count(rest)} were so already` : "";
  notices.done(`${counted(result.changed, "tag")} ${done}${already}.`, result.undo.length > 0 ? undo : undefined);
  if (result.stopped) notices.failed(result.stopped);
}
