import { fileAt } from "../../lib/api/client";
import { counted } from "../../lib/format/format";
import { rowsOf, type TableFormat } from "../../lib/tables/exports";
import { saveDownload } from "../../lib/window/download";
import { attempt, notices } from "../../lib/window/notices.svelte";
import { works } from "../../lib/window/works.svelte";
import { listQuery, type Shown } from "./filter";

/** Exports the tags that match the filters as a file that Import can read. */
export async function exportTags(shown: Shown, total: number | null, format: TableFormat): Promise<void> {
  const { sort: _, deleted: __, ...query } = listQuery(shown);
  // A workbook arrives at once, after its last row.
  await works.run("Exporting tags", format === "csv" ? total : null, (work) =>
    attempt(async () => {
      const heard = ({ rows }: { rows: number }) => (work.done = rowsOf(format, rows) ?? 0);
      if (await saveDownload(`tags.${format}`, fileAt("/tags/export", { ...query, format }), { work, heard })) {
        notices.done(format === "csv" ? `${counted(work.done, "tag")} exported.` : "Tags exported.");
      } else if (work.stopping) {
        notices.done("Export stopped. Nothing was saved.");
      }
    }),
  );
}
