// How far simulated time is ahead of real time, as last loaded.

import { get, post } from "./api/client";
import type { SimulatedClock } from "./api/types";

class SimulatedTime {
  /** Milliseconds. */
  ahead = $state(0);

  async load(): Promise<void> {
    this.ahead = (await get<SimulatedClock>("/simulator/clock")).offset_ms;
  }

  async advance(milliseconds: number): Promise<void> {
    this.ahead = (await post<SimulatedClock>("/simulator/clock", { advance_ms: milliseconds })).offset_ms;
  }
}

export const simulatedTime = new SimulatedTime();
