import { expect, test } from "vitest";
import { blockTypes, newBlock } from "../content";
import { summary } from "./blockSummary";

test("each kind of block has a summary in one line", () => {
  for (const [type] of blockTypes) expect(summary(newBlock(type))).not.toMatch(/\n/);
  expect(summary({ type: "text", text: "One\n\ntwo" })).toBe("One two");
  expect(summary({ type: "heading", text: "x".repeat(500) })).toHaveLength(80);
});
