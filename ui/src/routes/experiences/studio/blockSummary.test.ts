import { expect, test } from "vitest";
import { blockTypes, newBlock } from "../content";
import { summary } from "./blockSummary";

test("each kind of block has a summary in one line", () => {
  for (const [type] of blockTypes) expect(summary(newBlock(type))).not.toMatch(/\n/);
  expect(summary({ type: "text", text: "One\n\ntwo" })).toBe("One two");
  expect(summary({ type: "heading", text: "x".repeat(500) })).toHaveLength(120);
  expect(summary({ type: "heading", text: "{{tag:title || tag:name}}" })).toBe("Tag title, or name");
});

test("a condition is a sentence", () => {
  const when = { type: "variable_equals", variable: "registered", value: "true" } as const;
  const notice = { type: "notice", tone: "good", title: "Registered" } as const;
  expect(summary({ type: "condition", when, blocks: [notice, { type: "divider" }], otherwise: [newBlock("form")] })).toBe(
    "If the tag is registered, show notice “Registered” and 1 more; otherwise form",
  );
  expect(summary({ type: "condition", when, blocks: [] })).toBe("If the tag is registered, show nothing");
});
