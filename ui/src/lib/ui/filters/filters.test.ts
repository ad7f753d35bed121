import { describe, expect, it } from "vitest";
import { chosenWords, grouped, type Choice } from "./filters";

const choices: Choice[] = [
  ["verified", "Verified"],
  ["replayed", "Replayed", "Reason"],
  ["static", "Static URL", "Reason"],
];

describe("Filters", () => {
  it("show their choice in words, and a value from the address as it is", () => {
    expect(chosenWords({ value: "replayed", choices })).toBe("Replayed");
    expect(chosenWords({ value: "nonsense", choices })).toBe("nonsense");
  });

  it("keep the order of their choices under the headings", () => {
    expect(grouped(choices)).toEqual([
      ["", [choices[0]]],
      ["Reason", [choices[1], choices[2]]],
    ]);
  });
});
