import { describe, expect, it } from "vitest";
import type { SolveCandidate, Solved } from "../../lib/api/types";
import { isKey } from "../../lib/inlays/technologies";
import { haveOwnKeys, keyWords, noKeys, pieces, readWords, verdict } from "./solve";
import "../../lib/inlays/knownChips";

const candidate = (more: Partial<SolveCandidate> = {}) =>
  ({ proved_by: 2, slots: null, derivation: null, chips: [], ...more }) as SolveCandidate;
const solved = (
  certainty: Solved["certainty"],
  candidates: SolveCandidate[],
  urls = 1,
  notes: string[] = [],
  unused: Solved["unused"] = [],
): Solved => ({
  certainty,
  candidates,
  tried: 1_204,
  urls: Array.from({ length: urls }, (_, n) => `https://a.example/${n}`),
  unused,
  notes,
});

describe("the answer of the solver", () => {
  it("is told as a fact only if codes proved it", () => {
    expect(verdict(solved("proved", [candidate()], 2))).toEqual({
      title: "Proved",
      text: "The codes of all 2 URLs verify, and as nothing else. 1,204 combinations tried.",
    });
    expect(verdict(solved("narrowed", [candidate(), candidate()], 2)).text).toContain("More URLs");
    const single = verdict(solved("narrowed", [candidate({ proved_by: 1 })]));
    expect(single).toEqual({ title: "Very likely", text: "The code verifies as this, and might by chance. More URLs make it certain." });
    const plain = (technology: SolveCandidate["technology"]) => candidate({ proved_by: 0, technology });
    expect(verdict(solved("narrowed", [plain("ntag213"), plain("ntag215")])).text).toBe(
      "Only by the shape of the URLs. These chips have no key, so no tap can be verified. Choose your chip: they differ in nothing else that a URL shows.",
    );
    expect(verdict(solved("narrowed", [plain("ntag213"), plain("ntag424dna")])).text).toContain("Add the keys");
    expect(verdict(solved("narrowed", [candidate(), candidate()], 5)).text).not.toContain("More URLs");
    expect(verdict(solved("narrowed", [candidate({ proved_by: 0 })])).text).toContain("no code was checked");
    const shape = solved("narrowed", [candidate({ proved_by: 0 })]);
    expect(verdict(shape, 1).text).toContain("no code verifies with the key above");
    expect(verdict(shape, 2).text).toContain("Check that they are of these inlays");
    for (const candidates of [[], [candidate()]]) expect(verdict(solved("unknown", candidates)).title).toBe("Cannot tell");
    expect(verdict(solved("unknown", [])).text).toContain("check that the keys are theirs");
    expect(verdict(solved("unknown", [], 1, ["This is no web address."])).text).not.toContain("keys");
    expect(verdict(solved("proved", [candidate({ proved_by: 1 })], 3)).text).toContain("one URL verifies");
    const unused = [{ text: "https://a.example/", reason: "no_key", why: "its code verifies with none of the keys" }];
    expect(verdict(solved("narrowed", [candidate()], 3, [], unused)).title).toBe("Verified in part");
  });

  it("names the keys by the order in which they were entered", () => {
    expect(keyWords(candidate({ slots: { meta: 1, file: 0, master: null } }))).toBe("key 2 is the meta key, key 1 the file key");
    expect(keyWords(candidate({ slots: { meta: null, file: null, master: 0 }, derivation: { scheme: "boltcard", version: 1 } }))).toContain(
      "from master key 1: boltcard, version 1",
    );
    expect(keyWords(candidate({ proved_by: 0, slots: null }))).toBe("not known");
    expect(keyWords(candidate({ slots: { meta: 0, file: null, master: 1 }, derivation: { scheme: "boltcard", version: 1 } }))).toContain(
      "key 1 is the meta key, the file key from master key 2: boltcard, version 1",
    );
  });

  it("shows the keys of each inlay if they differ", () => {
    const chip = (url: number, file: number) => ({
      url,
      uid: "04A39493CC8680",
      counter: 1_200,
      slots: { meta: null, file, master: null },
      derivation: null,
    });
    expect(haveOwnKeys(candidate({ chips: [chip(0, 1), chip(1, 1)] }))).toBe(false);
    expect(haveOwnKeys(candidate({ chips: [chip(0, 1), chip(1, 2)] }))).toBe(true);
    expect(readWords(chip(0, 1))).toBe("UID 04A39493CC8680, counter 1,200");
    expect(readWords({ ...chip(0, 1), uid: null, counter: null })).toBe("names no chip");
  });
});

it("what was pasted is taken apart by lines, commas and spaces", () => {
  expect(pieces(" https://a.example/1\r\nhttps://a.example/2 ;\n\n")).toEqual(["https://a.example/1", "https://a.example/2"]);
  expect(noKeys(["00".repeat(16), "11".repeat(10), "00", "zz".repeat(16)], isKey)).toEqual(["00", "zz".repeat(16)]);
});
