// The offset of simulated time from real time, as last loaded.

import { get, post } from "../api/client";
import { perConnection } from "../api/connection.svelte";

class SimulatedTime {
  /** Offset in milliseconds. */
  ahead = $state(0);

  async load(): Promise<void> {
    this.ahead = (await get("/simulator/clock")).offset_ms;
  }

  async advance(milliseconds: number): Promise<void> {
    this.ahead = (await post("/simulator/clock", { advance_ms: milliseconds })).offset_ms;
  }
}

export const simulatedTime = perConnection(() => new SimulatedTime());
