// The number of taps that a webhook would be sent again. Events are not counted, only taps by hour
// and day, by verdict or by experience. So the shown number is an upper limit.

import { get } from "../../../lib/api/client";
import type { Webhook } from "../../../lib/api/types";
import { present } from "../../../lib/format/now.svelte";
import type { World } from "./form";

/** The most buckets that the service counts at once. */
const BUCKETS = 1_000;
const HOUR = 3_600_000;

/** The length of the buckets: the shorter, the more precise. */
export const bucketOf = (since: Date, now = present()): "hour" | "day" => (now - since.getTime() < (BUCKETS - 1) * HOUR ? "hour" : "day");

/** A time in the form of a browser's field, in its time zone; empty for none. */
export function atLocal(at: string | null): string {
  if (at === null) return "";
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const worlds = { live: "false", simulated: "true", all: "all" } as const;

/** The largest number of taps since a time that a webhook can be sent. */
export async function mostTaps({ events, filter }: Webhook, since: Date): Promise<number> {
  const period = { since: since.toISOString(), step: bucketOf(since), simulated: worlds[filter.world as World] };
  // Test taps have events, too, and are counted separately.
  const all = (taps: number, { reader, kiosk }: { reader: number; kiosk: number }) => taps + reader + kiosk;
  if (filter.experience_id) {
    const { totals, test_taps } = await get("/reports", { ...period, experience_id: filter.experience_id });
    return all(totals.taps, test_taps);
  }
  const { totals, test_taps } = await get("/stats", period);
  const counted: [string, number][] = Object.entries(totals);
  const told = counted.filter(([verdict]) => (events as string[]).includes(`tap.${verdict}`));
  return told.length === 0
    ? 0
    : all(
        told.reduce((sum, [, taps]) => sum + taps, 0),
        test_taps,
      );
}
