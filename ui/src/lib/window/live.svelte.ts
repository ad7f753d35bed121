// The events since the window opened, newest first.

import { announceEvent, announceMissed } from "../api/changes";
import type { LiveEvent } from "../api/types";
import { onLiveEvent } from "../shell/desktop";
import { notices } from "./notices.svelte";

/** How many events are kept: more than a screen shows at once. */
const KEPT = 100;

class Live {
  events = $state.raw<LiveEvent[]>([]);
  /** Number of taps of real and of simulated tags. */
  taps = $state({ real: 0, simulated: 0 });
  #listening: (() => void) | null = null;
  #hearing = new Set<(event: LiveEvent) => unknown>();

  start(): void {
    this.#listening ??= onLiveEvent((event) => this.#take(event), announceMissed);
  }

  /** Starts over, for another service. */
  restart(): void {
    this.#listening?.();
    this.#listening = null;
    this.events = [];
    this.taps = { real: 0, simulated: 0 };
    this.start();
  }

  /** Calls `heard` with each event, until the returned function is called. */
  hear(heard: (event: LiveEvent) => unknown): () => void {
    this.#hearing.add(heard);
    return () => void this.#hearing.delete(heard);
  }

  #take(event: LiveEvent): void {
    this.events = [event, ...this.events].slice(0, KEPT);
    if (event.event === "alert") notices.failed(event.message);
    if (event.event === "interaction") this.taps[event.simulated ? "simulated" : "real"]++;
    for (const heard of this.#hearing) heard(event);
    announceEvent(event);
  }
}

export const live = new Live();
