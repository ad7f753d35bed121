import { fileAt } from "../../lib/api/client";
import { saveDownload } from "../../lib/window/download";
import { counted } from "../../lib/format/format";
import { attempt, notices } from "../../lib/window/notices.svelte";
import { works } from "../../lib/window/works.svelte";

/** Exports the interactions that the filters of the feed show as a CSV file. */
export async function exportInteractions(filters: Record<string, string | undefined>): Promise<void> {
  await works.run("Exporting interactions", null, (work) =>
    attempt(async () => {
      // The first row has the names of the columns.
      const heard = ({ rows }: { rows: number }) => (work.done = Math.max(0, rows - 1));
      const file = fileAt("/interactions/export", filters as Parameters<typeof fileAt<"/interactions/export">>[1]);
      if (await saveDownload("interactions.csv", file, { work, heard })) {
        notices.done(`${counted(work.done, "interaction")} exported.`);
      } else if (work.stopping) {
        notices.done("Export stopped. Nothing was saved.");
      }
    }),
  );
}
