import { expect, test } from "vitest";
import { doneBy, steps, type Facts } from "./firstHour";

const nothing: Facts = { experiences: 0, tags: 0, taps: 0, verified: 0, readers: 0, inlays: 0, reachable: false };

test("each step is checked off by what happened, and by nothing else", () => {
  expect(doneBy(nothing, [])).toEqual([]);
  const facts: [Partial<Facts>, string][] = [
    [{ experiences: 1 }, "experience"],
    [{ tags: 1 }, "tag"],
    [{ taps: 1 }, "tap"],
    [{ verified: 1 }, "verified"],
    [{ readers: 1 }, "reader"],
    [{ inlays: 1 }, "inlay"],
    [{ reachable: true }, "phones"],
  ];
  expect(facts.map(([, key]) => key)).toEqual(steps.map(({ key }) => key));
  for (const [fact, key] of facts) expect(doneBy({ ...nothing, ...fact }, [])).toEqual([key]);
});

test("a step that is done stays done", () => {
  expect(doneBy(nothing, ["reader"])).toEqual(["reader"]);
  expect(doneBy({ ...nothing, tags: 1 }, ["reader", "unknown"])).toEqual(["tag", "reader"]);
});
