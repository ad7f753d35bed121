import { describe, expect, it, vi } from "vitest";

vi.mock("../../lib/api/client", () => ({ get: vi.fn(), post: vi.fn(), publicCall: vi.fn() }));

const { readScenario } = await import("./run");

describe("a scenario file", () => {
  it("is read back as it was saved", () => {
    const steps = [{ do: "tap" }, { do: "advance", ms: 300_000 }] as const;
    expect(readScenario(JSON.stringify({ tapdesk_scenario: 1, steps }))).toEqual(steps);
  });

  it.each(["nonsense", "{}", '{"tapdesk_scenario":1,"steps":[{"do":"explode"}]}', "null"])("is refused in words: %s", (text) => {
    expect(() => readScenario(text)).toThrow(/scenario/);
  });
});
