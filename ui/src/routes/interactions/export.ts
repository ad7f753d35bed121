import { fileAt } from "../../lib/api/client";
import { rowsOf, type TableFormat } from "../../lib/tables/exports";
import { saveDownload } from "../../lib/window/download";
import { counted } from "../../lib/format/format";
import { attempt, notices } from "../../lib/window/notices.svelte";
import { works } from "../../lib/window/works.svelte";

/** Exports the interactions that the filters of the feed show. */
export async function exportInteractions(filters: Record<string, string | undefined>, format: TableFormat): Promise<void> {
  await works.run("Exporting interactions", null, (work) =>
    attempt(async () => {
      const heard = ({ rows }: { rows: number }) => (work.done = rowsOf(format, rows) ?? 0);
      const query = { ...filters, format } as Parameters<typeof fileAt<"/interactions/export">>[1];
      if (await saveDownload(`interactions.${format}`, fileAt("/interactions/export", query), { work, heard })) {
        notices.done(format === "csv" ? `${counted(work.done, "interaction")} exported.` : "Interactions exported.");
      } else if (work.stopping) {
        notices.done("Export stopped. Nothing was saved.");
      }
    }),
  );
}
