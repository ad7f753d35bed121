import { describe, expect, it } from "vitest";
import type { Block, Experience } from "../../lib/api/types";
import { blockTypes, contentOf, storedOf, moved, newBlock, newWhen, patchOf, variablesOf, whenTypes } from "./content";

const page = { name: "Page", kind: "studio", blocks: [{ type: "divider" }], theme: { accent: "#aa3300" } } as unknown as Experience;

describe("a draft", () => {
  it("is a copy, with nothing in place of what is absent", () => {
    const draft = storedOf(page);
    draft.blocks.push({ type: "divider" });
    expect((page as unknown as { blocks: Block[] }).blocks).toHaveLength(1);
    expect(storedOf({ ...page, theme: undefined } as unknown as Experience).theme).toEqual({});
  });

  it("takes from the stored theme what it does not have", () => {
    const draft = { ...storedOf(page), theme: { font: "serif" as const } };
    expect(patchOf({ theme: draft.theme })).toMatchObject({ theme: { accent: null, font: "serif", logo: null } });
    expect(contentOf("studio", draft)).toEqual({ kind: "studio", blocks: [{ type: "divider" }], theme: { font: "serif" } });
  });

  it("is sent without what was not edited", () => {
    expect(patchOf({ name: "Page" })).toEqual({ name: "Page" });
    expect(patchOf({ target_url: "https://a.example/", rules: [] })).toEqual({ target_url: "https://a.example/", rules: null });
    expect(patchOf({})).toEqual({});
  });
});

describe("blocks and conditions", () => {
  it("begin as what they are called", () => {
    for (const [type] of blockTypes) expect(newBlock(type).type).toBe(type);
    for (const [type] of whenTypes) expect(newWhen(type).type).toBe(type);
  });

  it("move by one place, and not beyond the ends", () => {
    expect(moved([1, 2, 3], 0, 1)).toEqual([2, 1, 3]);
    expect(moved([1, 2, 3], 2, -1)).toEqual([1, 3, 2]);
    expect(moved([1, 2, 3], 0, -1)).toEqual([1, 2, 3]);
  });

  it("tell the variables that tags need", () => {
    const blocks: Block[] = [
      {
        type: "condition",
        when: { type: "variable_empty", variable: "b" },
        blocks: [newBlock("form")],
        otherwise: [newBlock("variable_button")],
      },
      { type: "heading", text: "{{ tag:variable:shown }}" },
    ];
    expect(variablesOf(blocks)).toEqual(["b", "name", "registered"]);
  });
});
