import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  chipName,
  closedLoop,
  counterMax,
  groups,
  hasKey,
  isCanonical,
  isEncodable,
  isKey,
  isOrderable,
  keyLengthWords,
  knownWeakness,
  lengthOf,
  limits,
  serves,
  sharedKeysMax,
  staticChips,
  usualChip,
} from "./technologies";
import { lookup } from "../api/cache";
import { knownChips } from "./knownChips";
import { UID_DIGITS } from "./uid";

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
  expect([closedLoop("ntag223dna"), closedLoop("ntag213")]).toEqual(["CC00000000", null]);
  expect([hasKey("ntag223dna"), hasKey("ntag213")]).toEqual([true, false]);
  expect([counterMax("sic43nt"), counterMax("ntag213")]).toEqual([0xffff_ffff, 0xff_ffff]);
  expect(staticChips()).toEqual(["ntag213", "ntag215", "ntag216"]);
  expect([isEncodable("ntag424dna_tt"), isEncodable("sic43nt")]).toEqual([true, false]);
  expect([knownWeakness("ntag224dna")?.source, knownWeakness("ntag424dna")]).toEqual(["IACR ePrint 2026/100", null]);
  expect(limits("sic43nt")).toContain("32 bits");
  expect(limits("ntag215")).toContain("no key");
  expect(limits("ntag424dna")).toBeNull();
});

test("the chip that forms begin with makes one-time codes without a URL template, for any service", () => {
  expect([isCanonical(usualChip), isEncodable(usualChip), isOrderable(usualChip, "aes")]).toEqual([true, true, true]);
  expect([isCanonical("ntag223dna"), isCanonical("ntag213")]).toEqual([false, false]);
});

test("every inlay has a UID of the length that fields ask for", () => {
  expect(new Set(knownChips.items.flatMap(({ modes }) => modes.map(({ uid }) => uid)))).toEqual(new Set([UID_DIGITS]));
});

test("a chip with a loop serves as one without", () => {
  expect([serves("ntag424dna_tt", "ntag424dna"), serves("ntag424dna", "ntag424dna_tt")]).toEqual([true, false]);
  expect([serves("unknown", "ntag213"), serves("ntag213", "ntag213")]).toEqual([false, true]);
});

test("keys have the lengths of the chips", () => {
  expect(keyLengthWords()).toBe("32, or 20 of a SIC43NT");
  expect(["0a".repeat(16), "0a".repeat(10), "0a".repeat(7), "zz".repeat(16), ""].map(isKey)).toEqual([true, true, false, false, false]);
});

test("a bureau writes no keys to chips in LRP mode, and a template for them has fewer shared keys", () => {
  expect([isOrderable("ntag424dna_tt", "lrp"), isOrderable("ntag213", "aes")]).toEqual([false, false]);
  expect([sharedKeysMax("ntag424dna", "aes"), sharedKeysMax("ntag424dna", "lrp")]).toEqual([64, 4]);
});

test("without an answer a chip is shown by its word", async () => {
  lookup("/technologies").forget();
  await expect(load(() => Response.json({ detail: "It failed." }, { status: 500 }))).rejects.toThrow("It failed.");
  expect([chipName("ntag213"), isCanonical("ntag213"), lengthOf("ntag213", "aes", "uid")]).toEqual(["ntag213", false, null]);
  expect([isKey("04DE5F1EACC040"), isKey("a name")]).toEqual([true, false]);
});
