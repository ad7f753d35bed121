import { fileAt } from "../api/client";
import { saveDownload } from "../window/download";
import { attempt, notices } from "../window/notices.svelte";
import { works } from "../window/works.svelte";

/** Exports the submissions that the filters select as a CSV file. */
export async function exportSubmissions(filters: Record<string, string | number | undefined>): Promise<void> {
  await works.run("Exporting submissions", null, (work) =>
    attempt(async () => {
      // A value may contain line breaks, so the file has more lines than submissions.
      const file = fileAt("/submissions/export", filters as Parameters<typeof fileAt<"/submissions/export">>[1]);
      if (await saveDownload("submissions.csv", file, { work, heard: () => undefined })) notices.done("Submissions exported.");
      else if (work.stopping) notices.done("Export stopped. Nothing was saved.");
    }),
  );
}
