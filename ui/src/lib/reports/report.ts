// The numbers and the report of the overview's period.

import { get } from "../api/client";
import { Problem } from "../api/problem";
import type { Report, Stats } from "../api/types";
import { demoWorld } from "../window/demoWorld.svelte";
import type { Period } from "./period";

/** The numbers of a period, of one group or of all. */
export const statsOf = ({ since, until, step, time_zone }: Period, group: number | null): Promise<Stats> =>
  get("/stats", { since, until, step, time_zone, simulated: demoWorld.simulated, ...(group !== null && { group_id: group }) });

/**
 * The totals of the period before, of one group or of all. `null` if they are not known: the hours of a group are stored for
 * a limited time.
 */
export async function totalsBefore(period: Period, group: number | null): Promise<Stats["totals"] | null> {
  try {
    return (await statsOf({ ...period, ...period.before }, group)).totals;
  } catch (error) {
    if (error instanceof Problem && error.status === 422 && group !== null) return null;
    throw error;
  }
}

/**
 * The report of a period, of one experience or of all, and of one group or of all. The hours of long ago are no
 * longer stored: their report is made of days of UTC.
 */
export async function reportOf(
  { since, until, step, time_zone }: Period,
  experience: number | null,
  group: number | null = null,
): Promise<Report> {
  const by = (step: Period["step"], time_zone: string) =>
    get("/reports", {
      since,
      until,
      step,
      time_zone,
      simulated: demoWorld.simulated,
      ...(experience !== null && { experience_id: experience }),
      ...(group !== null && { group_id: group }),
    });
  try {
    return await by(step, time_zone);
  } catch (error) {
    const isDaysOfUtc = step === "day" && time_zone === "UTC";
    if (error instanceof Problem && error.status === 422 && !isDaysOfUtc) return by("day", "UTC");
    throw error;
  }
}
