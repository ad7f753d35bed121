import { expect, test } from "vitest";
import { doneBy, ownExperiences, steps, type Facts } from "./firstHour";

const nothing: Facts = { experiences: 0, groups: 0, verified: 0, readers: 0, inlays: 0, reachable: false };

test("each step is checked off by what happened, and by nothing else", () => {
  expect(doneBy(nothing, [])).toEqual([]);
  const facts: [Partial<Facts>, string][] = [
    [{ reachable: true }, "phones"],
    [{ experiences: 1 }, "experience"],
    [{ readers: 1 }, "reader"],
    [{ inlays: 1 }, "inlay"],
    [{ verified: 1 }, "verified"],
    [{ groups: 1 }, "product"],
  ];
  expect(facts.map(([, key]) => key)).toEqual(steps.map(({ key }) => key));
  for (const [fact, key] of facts) expect(doneBy({ ...nothing, ...fact }, [])).toEqual([key]);
});

test("a step that is done stays done", () => {
  expect(doneBy(nothing, ["reader"])).toEqual(["reader"]);
  expect(doneBy({ ...nothing, inlays: 1 }, ["reader", "unknown"])).toEqual(["reader", "inlay"]);
});

test("the demo data checks nothing off", () => {
  expect(ownExperiences([{ name: "Register product (demo)" }])).toBe(0);
  expect(ownExperiences([{ name: "Register product (demo)" }, { name: "Register product" }])).toBe(1);
});
