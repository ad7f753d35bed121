// How many taps a webhook is told of again. Nothing counts events: taps are counted by the hour
// and the day, by verdict or by experience, so that what is said is the most that there can be.

import { get } from "../../../lib/api/client";
import type { Webhook } from "../../../lib/api/types";
import type { World } from "./form";

/** The most buckets that the service counts at once. */
const BUCKETS = 1_000;
const HOUR = 3_600_000;

/** The buckets to count in: the smaller, the closer. */
export const bucketOf = (since: Date, now = Date.now()): "hour" | "day" => (now - since.getTime() < (BUCKETS - 1) * HOUR ? "hour" : "day");

/** A time as a field of the browser has it, in its time zone; empty for none. */
export function atLocal(at: string | null): string {
  if (at === null) return "";
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const worlds = { live: "false", simulated: "true", all: "all" } as const;

/** The most taps since a time that a webhook can be told of. */
export async function mostTaps({ events, filter }: Webhook, since: Date): Promise<number> {
  const period = { since: since.toISOString(), bucket: bucketOf(since), simulated: worlds[filter.world as World] };
  if (filter.experience_id) return (await get("/reports", { ...period, experience_id: filter.experience_id })).totals.taps;
  const { totals } = await get("/stats", period);
  const counted: [string, number][] = Object.entries(totals);
  return counted.reduce((sum, [verdict, taps]) => sum + ((events as string[]).includes(`tap.${verdict}`) ? taps : 0), 0);
}
