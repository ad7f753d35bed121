import { expect, test } from "vitest";
import type { Block } from "../../../lib/api/types";
import { blockAt } from "./editing.svelte";

test("a block is found at its place, and nothing where the page has changed", () => {
  const inner: Block = { type: "heading", text: "Inner" };
  const blocks: Block[] = [
    { type: "divider" },
    { type: "condition", when: { type: "variable_filled", variable: "a" }, blocks: [], otherwise: [inner] },
  ];
  expect(blockAt(blocks, "0")).toBe(blocks[0]);
  expect(blockAt(blocks, "1.otherwise.0")).toBe(inner);
  for (const gone of ["2", "0.blocks.0", "1.blocks.0", "1.otherwise.1"]) expect(blockAt(blocks, gone)).toBeUndefined();
});
