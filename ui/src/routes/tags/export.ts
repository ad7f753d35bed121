import { fileAt } from "../../lib/api/client";
import { counted } from "../../lib/format/format";
import { saveDownload } from "../../lib/window/download";
import { attempt, notices } from "../../lib/window/notices.svelte";
import { works } from "../../lib/window/works.svelte";
import { listQuery, type Shown } from "./filter";

/** Exports the tags that match the filters as a CSV file, which Import can read. */
export async function exportTags(shown: Shown, total: number | null): Promise<void> {
  const { sort: _, deleted: __, ...query } = listQuery(shown);
  await works.run("Exporting tags", total, (work) =>
    attempt(async () => {
      // The first row has the names of the columns.
      const heard = ({ rows }: { rows: number }) => (work.done = Math.max(0, rows - 1));
      if (await saveDownload("tags.csv", fileAt("/tags/export", query), { work, heard })) {
        notices.done(`${counted(work.done, "tag")} exported.`);
      } else if (work.stopping) {
        notices.done("Export stopped. Nothing was saved.");
      }
    }),
  );
}
