// The export of the overview's report.

import { fileAt } from "../../lib/api/client";
import type { Report } from "../../lib/api/types";
import { exportStepOf, type Bars } from "../../lib/reports/period";
import type { TableFormat } from "../../lib/tables/exports";
import { demoWorld } from "../../lib/window/demoWorld.svelte";
import { saveDownload } from "../../lib/window/download";
import { attempt, notices } from "../../lib/window/notices.svelte";
import { works } from "../../lib/window/works.svelte";

/** The experience and the group of a report; `null` for all. */
interface Of {
  experience: number | null;
  group: number | null;
}

/** Exports the report that is shown, with a row for each bar of the chart. */
export async function exportReport(report: Report, bars: Bars, { experience, group }: Of, format: TableFormat): Promise<void> {
  const { since, until, time_zone } = report;
  const step = exportStepOf(report.step, bars);
  await works.run("Exporting the report", null, (work) =>
    attempt(async () => {
      const file = fileAt("/reports/export", {
        since,
        until,
        step,
        time_zone,
        simulated: demoWorld.simulated,
        format,
        ...(experience !== null && { experience_id: experience }),
        ...(group !== null && { group_id: group }),
      });
      if (!(await saveDownload(`report.${format}`, file, { work, heard: () => undefined }))) return;
      // The service widens the period to whole weeks and months, so its total may be higher than that of the screen.
      notices.done(step === "week" || step === "month" ? `Report exported in whole ${step}s.` : "Report exported.");
    }),
  );
}
