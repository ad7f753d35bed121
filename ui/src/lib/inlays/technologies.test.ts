import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  chipName,
  closedLoop,
  counterMax,
  familyOf,
  groups,
  isEncodable,
  knownWeakness,
  lengthOf,
  limits,
  staticChips,
} from "./technologies";
import { lookup } from "../api/cache";
import { knownChips } from "./knownChips";

const load = (answer: () => Response) => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => answer());
  return lookup("/technologies").load();
};

beforeEach(() => load(() => Response.json(knownChips)));
afterEach(() => vi.restoreAllMocks());

test("the chips of the service are offered in two groups", () => {
  const [rolling, fixed] = groups().map(({ chips }) => chips.map(([, name]) => name));
  expect(rolling).toEqual(["NTAG 424 DNA", "NTAG 424 DNA TagTamper", "NTAG 223 DNA", "NTAG 224 DNA", "SIC43NT", "SIC43S1"]);
  expect(fixed).toEqual(["NTAG210", "NTAG212", "NTAG213", "NTAG213 TT", "NTAG215", "NTAG216", "MIFARE Ultralight"]);
});

test("a chip has the lengths of its mode", () => {
  expect(lengthOf("ntag424dna", "aes", "picc")).toBe(32);
  expect(lengthOf("ntag424dna", "lrp", "picc")).toBe(48);
  expect(lengthOf("ntag424dna", "aes", "enc")).toBe("any");
  expect(lengthOf("ntag424dna", "aes", "tamper")).toBeNull();
  expect(lengthOf("ntag424dna_tt", "aes", "tamper")).toBe(2);
  // A chip with one mode has its lengths in any.
  expect(lengthOf("sic43s1", "lrp", "mac")).toBe(32);
  expect(lengthOf("ntag210", "aes", "counter")).toBeNull();
  expect(lengthOf("ultralight", "aes", "slug")).toBe("any");
});

test("a chip has its other abilities", () => {
  expect([familyOf("ntag223dna"), closedLoop("ntag223dna"), closedLoop("ntag213")]).toEqual(["ntag22x", "CC00000000", null]);
  expect([counterMax("sic43nt"), counterMax("ntag213")]).toEqual([0xffff_ffff, 0xff_ffff]);
  expect(staticChips()).toEqual(["ntag213", "ntag215", "ntag216"]);
  expect([isEncodable("ntag424dna_tt"), isEncodable("sic43nt")]).toEqual([true, false]);
  expect([knownWeakness("ntag224dna")?.source, knownWeakness("ntag424dna")]).toEqual(["IACR ePrint 2026/100", null]);
  expect(limits("sic43nt")).toContain("32 bits");
  expect(limits("ntag215")).toContain("no key");
  expect(limits("ntag424dna")).toBeNull();
});

test("without an answer a chip is shown by its word", async () => {
  lookup("/technologies").forget();
  await expect(load(() => Response.json({ detail: "It failed." }, { status: 500 }))).rejects.toThrow("It failed.");
  expect([chipName("ntag213"), familyOf("ntag213"), lengthOf("ntag213", "aes", "uid")]).toEqual(["ntag213", undefined, null]);
});
