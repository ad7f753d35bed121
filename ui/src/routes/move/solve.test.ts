import { describe, expect, it } from "vitest";
import type { SolveCandidate, Solved } from "../../lib/api/types";
import { KEY, keyWords, noKeys, pieces, verdict } from "./solve";
import "../../lib/inlays/knownChips";

const candidate = (more: Partial<SolveCandidate> = {}) => ({ proved_by: 2, slots: null, derivation: null, ...more }) as SolveCandidate;
const solved = (certainty: Solved["certainty"], candidates: SolveCandidate[], urls = 1, notes: string[] = []): Solved => ({
  certainty,
  candidates,
  tried: 1_204,
  urls: Array.from({ length: urls }, (_, n) => `https://a.example/${n}`),
  notes,
});

describe("the answer of the solver", () => {
  it("is told as a fact only if codes proved it", () => {
    expect(verdict(solved("proved", [candidate()], 2))).toEqual({
      title: "Proved",
      text: "The codes of all 2 URLs verify, and as nothing else. 1,204 combinations tried.",
    });
    expect(verdict(solved("narrowed", [candidate(), candidate()], 2)).text).toContain("More URLs");
    expect(verdict(solved("narrowed", [candidate(), candidate()], 5)).text).not.toContain("More URLs");
    expect(verdict(solved("narrowed", [candidate({ proved_by: 0 })])).text).toContain("no code was checked");
    for (const candidates of [[], [candidate()]]) expect(verdict(solved("unknown", candidates)).title).toBe("Cannot tell");
    expect(verdict(solved("unknown", [])).text).toContain("check that the keys are theirs");
    expect(verdict(solved("unknown", [], 1, ["This is no web address."])).text).not.toContain("keys");
  });

  it("names the keys by the order in which they were entered", () => {
    expect(keyWords(candidate({ slots: { meta: 1, file: 0, master: null } }))).toBe("key 2 is the meta key, key 1 the file key");
    expect(keyWords(candidate({ slots: { meta: null, file: null, master: 0 }, derivation: { scheme: "boltcard", version: 1 } }))).toContain(
      "from master key 1: boltcard, version 1",
    );
    expect(keyWords(candidate({ proved_by: 0, slots: null }))).toBe("not known");
  });
});

it("what was pasted is taken apart by lines, commas and spaces", () => {
  expect(pieces(" https://a.example/1\r\nhttps://a.example/2 ;\n\n")).toEqual(["https://a.example/1", "https://a.example/2"]);
  expect(noKeys(["00".repeat(16), "11".repeat(10), "00", "zz".repeat(16)], KEY)).toEqual(["00", "zz".repeat(16)]);
});
