// Taps that this window made, with their URLs, rolling keys and the time of each request, in memory
// only. The service stores none of them: a code is spent with its tap, of a key there is a hash
// alone, and a tap is one row.

import { perConnection } from "../shell/connection.svelte";

export interface OwnTap {
  /** The URL as it was sent. */
  url: string;
  /** Where it redirected to, if it did. */
  location: string | null;
  /** The rolling key, if it got one. */
  rk: string | null;
  /** How long each request took, in milliseconds; what was not asked for is left out. */
  took: OwnTimes;
}

/** The requests of a tap. */
export type OwnTimes = Partial<Record<"tap" | "payload" | "update", number>>;

class OwnTaps {
  #taps = new Map<number, OwnTap>();

  remember(interaction: number, tap: OwnTap): void {
    this.#taps.set(interaction, tap);
  }

  /** Notes another request of a tap. */
  took(interaction: number | null, times: OwnTimes): void {
    const tap = interaction === null ? undefined : this.#taps.get(interaction);
    if (tap) Object.assign(tap.took, times);
  }

  of(interaction: number): OwnTap | null {
    return this.#taps.get(interaction) ?? null;
  }
}

export const ownTaps = perConnection(() => new OwnTaps());

/** The times of a tap and its payload that were measured in microseconds. */
export function timesOf({ tap_micros, payload_micros }: { tap_micros?: number | null; payload_micros?: number | null }): OwnTimes {
  return {
    ...(tap_micros != null && { tap: tap_micros / 1000 }),
    ...(payload_micros != null && { payload: payload_micros / 1000 }),
  };
}
