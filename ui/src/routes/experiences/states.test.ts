import { describe, expect, it } from "vitest";
import type { Block } from "../../lib/api/types";
import { statesOfPage, statesOfRules } from "./states";

const names = (blocks: Block[]) => statesOfPage(blocks).all.map(({ name }) => name);

const registration: Block[] = [
  { type: "heading", text: "{{tag:title || tag:name}}" },
  {
    type: "condition",
    when: { type: "variable_filled", variable: "owner_email" },
    blocks: [{ type: "notice", tone: "good", title: "Registered", text: "" }],
    otherwise: [
      {
        type: "form",
        submit_label: "Register",
        fields: [
          { label: "Name", kind: "text", variable: "owner_name", required: true },
          { label: "Email", kind: "email", variable: "owner_email", required: true },
        ],
      },
    ],
  },
];

describe("the states of a page", () => {
  it("are a first tap and one that is not verified, whatever the page has", () => {
    expect(names([])).toEqual(["First tap", "Not verified"]);
    expect(statesOfPage([]).all[0]!.tap).toEqual({ verification: "verified", variables: {}, scan_count: 1 });
  });

  it("are named by the page, and have the values that bring them about", () => {
    const { all, of } = statesOfPage(registration);
    expect(all.map(({ name }) => name)).toEqual(["First tap", "Registered", "Not verified"]);
    expect(all[0]!.tap.variables).toEqual({ owner_email: "", owner_name: "" });
    expect(all[1]!.tap.variables).toEqual({ owner_email: "ada@example.com", owner_name: "Ada Lovelace" });
    expect(of).toEqual({ "1.blocks.": all[1]!.key, "1.otherwise.": all[0]!.key });
  });

  it("are in each group that a condition names", () => {
    const when = { type: "group" as const, any_of: [7] };
    const { all } = statesOfPage([{ type: "condition", when, blocks: [{ type: "divider" }], otherwise: [] }]);
    expect(all.map(({ name, tap }) => [name, tap.group_id])).toEqual([
      ["First tap", undefined],
      ["In Group 7", 7],
      ["Not verified", undefined],
    ]);
  });

  it("are those of the verdict, each once", () => {
    const verdict = (any_of: ("verified" | "not_verified" | "not_checked")[]): Block => ({
      type: "condition",
      when: { type: "verification", any_of },
      blocks: [{ type: "notice", tone: "good", title: "Words" }],
    });
    expect(names([verdict(["verified"]), verdict(["not_verified"]), verdict(["not_checked"])])).toEqual([
      "First tap",
      "Not verified",
      "Not checked",
    ]);
  });

  it("begin a count at its lowest value, and a yes or no at no", () => {
    const equals = (variable: string, value: string): Block => ({
      type: "condition",
      when: { type: "variable_equals", variable, value },
      blocks: [{ type: "divider" }],
    });
    const { all } = statesOfPage([equals("stamps", "0"), equals("stamps", "1"), equals("claimed", "true")]);
    expect(all[0]!.tap.variables).toEqual({ claimed: "false", stamps: "0" });
    expect(all.map(({ name }) => name)).toEqual(["First tap", "Claimed", "Stamps is 1", "Not verified"]);
  });

  it("of a nested condition have what both conditions ask for", () => {
    const { all, of } = statesOfPage([
      {
        type: "condition",
        when: { type: "variable_equals", variable: "registered", value: "true" },
        blocks: [{ type: "condition", when: { type: "scan_count", at_least: 3 }, blocks: [{ type: "divider" }] }],
      },
    ]);
    const state = all.find(({ key }) => key === of["0.blocks.0.blocks."])!;
    expect(state.tap).toEqual({ verification: "verified", variables: { registered: "true" }, scan_count: 3 });
  });

  it("of a redirect are those of its rules", () => {
    const { all } = statesOfRules([
      { when: [{ type: "country", any_of: ["DE"] }], target_url: "https://a.example/" },
      { when: [{ type: "tamper", any_of: ["open"] }], target_url: "https://b.example/" },
    ]);
    expect(all.map(({ name }) => name)).toEqual(["First tap", "Germany", "Seal open", "Not verified"]);
  });
});
