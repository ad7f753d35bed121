import { describe, expect, it } from "vitest";
import { attacks } from "./attacks";
import { readScenario, writeScenario } from "./scenario";

const read = (value: unknown) => readScenario(JSON.stringify(value));

describe("a scenario file", () => {
  it("is read back as it was saved", () => {
    const steps = attacks.flatMap((attack) => attack.steps);
    expect(readScenario(new TextDecoder().decode(writeScenario(steps)))).toEqual(steps);
  });

  it.each(["nonsense", "{}", "null", "[]"])("is refused in words: %s", (text) => {
    expect(() => readScenario(text)).toThrow(/scenario/);
  });

  it.each([
    { do: "explode" },
    { do: "toString" },
    { do: "advance" },
    { do: "advance", ms: "soon" },
    { do: "update", key: "registered" },
    null,
    "tap",
  ])("is refused for a step that is none: %o", (step) => {
    expect(() => read({ tapdesk_scenario: 1, steps: [{ do: "tap" }, step] })).toThrow(/step/);
  });
});
