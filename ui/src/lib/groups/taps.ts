// The taps of a group in the last 30 days, and the problems at its tags.

import { cached } from "../api/cache";
import { present } from "../format/now.svelte";
import { periodOf } from "../reports/period";

/** Their totals; `null` until they are counted. */
export const recentTaps = (group_id: number) =>
  cached("/reports", { since: periodOf("30d", present()).since, step: "day", group_id, simulated: "false" }).now?.totals ?? null;

/** Counts of problems; `null` until they are counted. */
export const recentProblems = (group_id: number) =>
  cached("/stats", { since: periodOf("30d", present()).since, step: "day", group_id, simulated: "false" }).now?.attention ?? null;
