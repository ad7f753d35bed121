// The live feed: what happened since the window opened, newest first.

import { onLiveEvent, type LiveEvent } from "./desktop";

const KEPT = 500;

class Live {
  events = $state.raw<LiveEvent[]>([]);
  paused = $state(false);
  /** What arrived while the feed was paused. */
  waiting = $state(0);
  #held: LiveEvent[] = [];
  #listening: (() => void) | null = null;

  start(): void {
    this.#listening ??= onLiveEvent((event) => this.#take(event));
  }

  /** Another service is another history. */
  restart(): void {
    this.#listening?.();
    this.#listening = null;
    this.events = [];
    this.start();
  }

  pause(paused: boolean): void {
    this.paused = paused;
    if (paused) return;
    this.events = [...this.#held, ...this.events].slice(0, KEPT);
    this.#held = [];
    this.waiting = 0;
  }

  #take(event: LiveEvent): void {
    if (this.paused) {
      this.#held = [event, ...this.#held].slice(0, KEPT);
      this.waiting++;
    } else {
      this.events = [event, ...this.events].slice(0, KEPT);
    }
  }
}

export const live = new Live();
