import { fileAt } from "../api/client";
import type { TableFormat } from "../tables/exports";
import { saveDownload } from "../window/download";
import { attempt, notices } from "../window/notices.svelte";
import { works } from "../window/works.svelte";

/** Exports the submissions that the filters select. */
export async function exportSubmissions(filters: Record<string, string | number | undefined>, format: TableFormat): Promise<void> {
  await works.run("Exporting submissions", null, (work) =>
    attempt(async () => {
      // A value may contain line breaks, so a CSV file has more lines than submissions.
      const query = { ...filters, format } as Parameters<typeof fileAt<"/submissions/export">>[1];
      const saved = await saveDownload(`submissions.${format}`, fileAt("/submissions/export", query), { work, heard: () => undefined });
      if (saved) notices.done("Submissions exported.");
      else if (work.stopping) notices.done("Export stopped. Nothing was saved.");
    }),
  );
}
