import { expect, test } from "vitest";
import { doneBy, ownWork, steps, type Facts } from "./firstHour";

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

test("the demo data, and a tag that leads nowhere, check nothing off", () => {
  const bare = { experience_id: null, simulated: false };
  const demo = { experience_id: 1, simulated: true };
  const none = ownWork([{ name: "Register product (demo)" }], [bare, demo]);
  expect(doneBy({ ...nothing, ...none }, [])).toEqual([]);
  const made = ownWork([{ name: "Register product" }], [bare, { experience_id: 2, simulated: false }]);
  expect(doneBy({ ...nothing, ...made }, [])).toEqual(["experience", "tag"]);
});
