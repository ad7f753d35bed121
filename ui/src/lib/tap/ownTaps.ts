// Taps by this window, with their URLs, rolling keys and the time of each request, only in memory.
// The service stores none of them: a tap spends its code, keys are stored only as hashes, and a tap
// is one row.

import { perConnection } from "../api/connection.svelte";

export interface OwnTap {
  /** The URL that was sent. */
  url: string;
  /** The redirect's destination; null if there was no redirect. */
  location: string | null;
  /** The rolling key, if it got one. */
  rk: string | null;
  /** The duration of each request, in milliseconds; requests that were not made are missing. */
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

/** The durations of a tap and its payload, from microseconds. */
export function timesOf({ tap_micros, payload_micros }: { tap_micros?: number | null; payload_micros?: number | null }): OwnTimes {
  return {
    ...(tap_micros != null && { tap: tap_micros / 1000 }),
    ...(payload_micros != null && { payload: payload_micros / 1000 }),
  };
}
