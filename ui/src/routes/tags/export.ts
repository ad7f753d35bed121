import { download } from "../../lib/api/client";
import { saveFile } from "../../lib/desktop";
import { notices } from "../../lib/notices.svelte";
import { listQuery, narrows, type Shown } from "./filter";

/** Saves the tags that the list shows as a CSV file that Import reads back. */
export async function exportTags(shown: Shown): Promise<void> {
  const { sort: _, deleted: __, ...query } = listQuery(shown);
  const bytes = await download("/tags/export", query);
  if (await saveFile("tags.csv", bytes)) {
    notices.done(narrows(shown) ? "The tags that match are exported." : "The tags are exported.");
  }
}
