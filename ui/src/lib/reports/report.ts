// The report of the overview's period.

import { get } from "../api/client";
import { Problem } from "../api/problem";
import type { Report } from "../api/types";
import { demoWorld } from "../window/demoWorld.svelte";
import type { Period } from "./period";

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
