// The taps of a group in the last 30 days, and the problems at its tags.

import { cached } from "../api/cache";
import { get } from "../api/client";
import { present } from "../format/now.svelte";
import { periodOf } from "../reports/period";

const report = (group_id: number) => ({ since: periodOf("30d", present()).since, step: "day", group_id, simulated: "false" }) as const;

/** Their totals; `null` until they are counted. */
export const recentTaps = (group_id: number) => cached("/reports", report(group_id)).now?.totals ?? null;

/** Their totals as of now, for a decision: those that are shown may be from before. */
export const countTaps = async (group_id: number) => (await get("/reports", report(group_id))).totals;

/** Counts of problems; `null` until they are counted. */
export const recentProblems = (group_id: number) =>
  cached("/stats", { since: periodOf("30d", present()).since, step: "day", group_id, simulated: "false" }).now?.attention ?? null;
