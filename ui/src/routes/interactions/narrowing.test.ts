import { expect, test } from "vitest";
import { feedQuery, narrowing } from "./narrowing";

const TODAY = "2026-11-28";
const sent = (query: Record<string, string>) => Object.entries(feedQuery(query, "false", TODAY)).filter(([, value]) => value !== undefined);

test("each filter of the address narrows the query, and nothing else is in it", () => {
  expect(sent({})).toEqual([["simulated", "false"]]);
  for (const name of narrowing) expect(sent({ [name]: name === "dates" ? "7d" : "5" }).length, name).toBeGreaterThan(1);
  expect(sent({ new: "tag" })).toEqual(sent({}));
});

test("the taps of one chip are found by its UID", () => {
  expect(feedQuery({ uid: "04DE5F1EACC040" }, "true", TODAY)).toMatchObject({ uid: "04DE5F1EACC040", simulated: "true" });
});
