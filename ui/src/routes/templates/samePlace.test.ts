import { expect, it } from "vitest";
import { apart, atSamePlace, placeCounts } from "./samePlace";
import "../../lib/inlays/knownChips";

const form = (id: number, query: string, more = {}) => ({
  id,
  template: `https://sdm.example/tag?${query}`,
  technology: "ntag424dna" as const,
  mode: "aes" as const,
  enc_length: null,
  ...more,
});

it("only templates of the same host and path are at one place", () => {
  const [one, other] = [form(1, "p={picc}&c={mac}"), form(2, "u={uid}&n={counter}&c={mac}")];
  const elsewhere = { ...form(3, ""), template: "https://sdm.example/tagtt?p={picc}&c={mac}" };
  expect(atSamePlace(one, [one, other, elsewhere]).map(({ id }) => id)).toEqual([2]);
  expect([...placeCounts([one, other, elsewhere]).values()]).toEqual([2, 1]);
});

it("placeholders tell templates apart, or else their lengths", () => {
  const plain = form(1, "p={picc}&c={mac}");
  expect(apart(plain, form(2, "p={picc}&e={enc}&c={mac}", { enc_length: 32 }))).toBe("has {enc}.");
  expect(apart(plain, form(3, "u={uid}&n={counter}&c={mac}"))).toBe("has {uid} and {counter}, has no {picc}.");
  expect(apart(plain, form(4, "p={picc}&c={mac}", { mode: "lrp" }))).toBe("has 48 characters in {picc}.");
});
