import { download } from "../../lib/api/client";
import { saveFile } from "../../lib/desktop";
import { notices } from "../../lib/notices.svelte";

/** Saves every tag as a CSV file that Import reads back. */
export async function exportTags(): Promise<void> {
  const bytes = await download("/tags/export");
  if (await saveFile("tags.csv", bytes)) notices.done("The tags are exported.");
}
