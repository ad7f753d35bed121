import { describe, expect, it } from "vitest";
import { lasted } from "../format/format";
import { timesOf } from "./ownTaps";
import { stepTimes } from "./stepTimes";

const at = "2026-01-01T12:00:00.000Z";
const nothing = { at, payload_reads: null, update: null, refused_update: null };

describe("the time of each step", () => {
  it("is what the service knows of a tap that somebody else made", () => {
    const trace = {
      ...nothing,
      payload_reads: { first_at: "2026-01-01T12:00:00.340Z", reads: 2 },
      update: { at: "2026-01-01T12:01:15.000Z", changes: [] },
    };
    expect(stepTimes(trace, {})).toEqual({ payload: "after 340 ms", update: "after 1 min 15 s" });
  });

  it("has how long each request of this window took", () => {
    const trace = { ...nothing, payload_reads: { first_at: "2026-01-01T12:00:03.400Z", reads: 1 } };
    const took = { tap: 1.23, payload: 0.41 };
    expect(stepTimes(trace, took)).toEqual({ redirect: "took 1.2 ms", payload: "after 3.4 s, took 0.4 ms" });
  });

  it("is not there for what did not happen", () => {
    expect(stepTimes(nothing, {})).toEqual({});
  });

  it("is that of an update that was refused", () => {
    const refused_update = { at: "2026-01-01T12:00:02.000Z", fault: "not_assigned" as const, variable: null };
    expect(stepTimes({ ...nothing, refused_update }, { update: 12 })).toEqual({ update: "after 2.0 s, took 12 ms" });
  });
});

describe("a length of time", () => {
  it("has as many digits as one can feel", () => {
    const lengths: [number, string][] = [
      [-3, "0.0 ms"],
      [0.04, "0.0 ms"],
      [9.94, "9.9 ms"],
      [9.96, "10 ms"],
      [999.4, "999 ms"],
      [999.6, "1.0 s"],
      [59_940, "59.9 s"],
      [59_960, "1 min 0 s"],
      [299_000, "4 min 59 s"],
      [3_600_000, "1 h 0 min"],
    ];
    for (const [ms, words] of lengths) expect(lasted(ms)).toBe(words);
  });

  it("is nothing if nobody measured it", () => {
    expect([NaN, Infinity, undefined, null].map(lasted)).toEqual([null, null, null, null]);
    expect(lasted(timesOf({}).tap)).toBe(null);
    expect(stepTimes({ ...nothing, payload_reads: { first_at: "no moment", reads: 1 } }, { tap: NaN })).toEqual({});
  });
});
