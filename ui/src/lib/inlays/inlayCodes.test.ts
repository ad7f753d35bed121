import { expect, test } from "vitest";
import type { Inlay } from "../api/types";
import type { ChipCodes } from "../shell/desktop";
import { chipCodeNote, chipCodeWords, codeFields, codesOfChip, codesOfInlay, disagreements, needsOf, noCodes, noKeys } from "./inlayCodes";
import "./knownChips";

const encrypted: ChipCodes = { kind: "on", mirror: "encrypted", mac_from: "uid", meta_key: 1, file_key: 2, canonical: true, problem: null };
const off: ChipCodes = { kind: "off" };

test("a form is filled by what the chip's settings say", () => {
  expect(codesOfChip(encrypted)).toEqual({ template: null, mirror: "encrypted", mac_from: "uid", keys: noKeys });
  expect(codesOfChip(off).mirror).toBe("");
  // The form has neither value: the person chooses.
  expect(codesOfChip({ ...encrypted, mirror: null, mac_from: null })).toEqual(noCodes());
});

test("a blank or static chip is sent without mirror, MAC input and keys", () => {
  expect(codeFields(codesOfChip(off))).toEqual({ mirror: null });
});

test("only the keys that the mirror needs are sent", () => {
  const keys = { ...noKeys, file: "F", meta: "M" };
  expect(codeFields({ template: null, mirror: "encrypted", mac_from: "uid", keys })).toEqual({
    mirror: "encrypted",
    mac_from: "uid",
    file_key: "F",
    meta_key: "M",
  });
  expect(codeFields({ template: null, mirror: "plain", mac_from: "none", keys })).toEqual({
    mirror: "plain",
    mac_from: "none",
    file_key: "F",
  });
  expect(codeFields({ template: null, mirror: "plain", mac_from: "none", keys: { ...keys, source: "master", master: "7" } })).toEqual({
    mirror: "plain",
    mac_from: "none",
    master_key_id: 7,
  });
  const shared = { ...keys, source: "master" as const, master: "7" };
  const ofMaster = { mirror: "encrypted", mac_from: "none", master_key_id: 7 };
  expect(codeFields({ template: null, mirror: "encrypted", mac_from: "none", keys: shared })).toEqual({ ...ofMaster, meta_key: "M" });
  expect(codeFields({ template: null, mirror: "encrypted", mac_from: "none", keys: { ...shared, meta: " " } })).toEqual(ofMaster);
});

test("of a URL template, the chip and the placeholders decide which keys there are", () => {
  const keys = { ...noKeys, file: " F ", meta: "M" };
  const codes = { ...noCodes(), template: 3, keys };
  const form = { url_template_id: 3, mirror: null, mac_from: "none" };
  const sent = (technology: Inlay["technology"], template: string) => codeFields(codes, needsOf(technology, codes, template));
  expect(sent("ntag424dna", "https://x.example/?{picc}{mac}")).toEqual({ ...form, file_key: "F", meta_key: "M" });
  expect(sent("ntag424dna_tt", "https://x.example/?{uid}{mac}")).toEqual({ ...form, file_key: "F" });
  expect(sent("ntag223dna", "https://x.example/?{uid}x{counter}x{mac}")).toEqual({ ...form, file_key: "F" });
  expect(sent("ntag213", "https://x.example/{slug}?{uid}x{counter}")).toEqual(form);
  expect(needsOf("sic43nt", codes, "https://x.example/?{uid}{tamper}{counter}{mac}")).toEqual({
    meta: false,
    digits: 20,
    derivable: false,
  });
  expect(needsOf("ntag223dna", codes)).toEqual({ meta: false, digits: null, derivable: false });
  expect(needsOf("ntag424dna_tt", { mirror: "encrypted" })).toEqual({ meta: true, digits: 32, derivable: true });
});

test("an inlay that is edited keeps its keys until others are entered", () => {
  const inlay = { url_template_id: null, mirror: "plain", mac_from: "none", key_source: "own" } as Inlay;
  expect(codeFields({ ...codesOfInlay(inlay), mac_from: "uid" })).toEqual({ mirror: "plain", mac_from: "uid" });
  expect(codesOfInlay({ ...inlay, mirror: null, key_source: null }).keys.source).toBe("own");
});

test("each setting that differs from the chip's is reported", () => {
  expect(disagreements(encrypted, { mirror: "encrypted", mac_from: "uid" })).toEqual([]);
  expect(disagreements(encrypted, { mirror: "plain", mac_from: "none" })).toHaveLength(2);
  expect(disagreements(off, { mirror: "plain", mac_from: "none" })).toEqual([
    "The chip makes no codes, but the settings here expect codes.",
  ]);
  expect(disagreements(encrypted, { mirror: "", mac_from: "none" })).toEqual(["The chip makes codes, but the settings here expect none."]);
  expect(disagreements({ kind: "unknown" }, { mirror: "plain", mac_from: "none" })).toEqual([]);
});

test("codes of a URL template are judged by the template, not by the settings of the canonical form", () => {
  const byTemplate = { mirror: null, mac_from: "none" as const, url_template_id: 7 };
  expect(disagreements(encrypted, byTemplate)).toEqual([]);
  expect(disagreements({ ...encrypted, canonical: false } as ChipCodes, byTemplate)).toEqual([]);
});

test("codes outside of uid and token are a matter of a URL template, and no problem", () => {
  expect(chipCodeNote(encrypted)).toBeNull();
  expect(chipCodeNote({ ...encrypted, canonical: false } as ChipCodes)).toContain("URL template");
  const problem = "It makes no MAC, so its codes prove nothing.";
  expect(chipCodeNote({ ...encrypted, canonical: false, problem } as ChipCodes)).toBe(problem);
  expect([chipCodeNote(off), chipCodeNote({ kind: "unknown" })]).toEqual([null, null]);
});

test("the chip's settings are described in words, with the slots of its keys", () => {
  expect(chipCodeWords(encrypted)).toBe("UID and counter encrypted; MAC input: URL from uid on; meta key in slot 1; file key in slot 2");
});
