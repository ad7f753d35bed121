import { expect, test } from "vitest";
import type { Inlay } from "./api/types";
import type { ChipCodes } from "./desktop";
import { chipCodeWords, codeFields, codesOfChip, codesOfInlay, disagreements, noKeys } from "./inlayCodes";

const encrypted: ChipCodes = { kind: "on", mirror: "encrypted", mac_from: "uid", meta_key: 1, file_key: 2, problem: null };
const off: ChipCodes = { kind: "off" };

test("a form is filled by what the chip's settings say", () => {
  expect(codesOfChip(encrypted)).toEqual({ mirror: "encrypted", mac_from: "uid", keys: noKeys });
  expect(codesOfChip(off).mirror).toBe("");
  // The service gets neither: the person chooses.
  expect(codesOfChip({ ...encrypted, mirror: null, mac_from: null })).toEqual({ mirror: "", mac_from: "none", keys: noKeys });
});

test("a blank or static chip is sent without mirror, MAC input and keys", () => {
  expect(codeFields(codesOfChip(off))).toEqual({ mirror: null });
});

test("only the keys that the mirror needs are sent", () => {
  const keys = { ...noKeys, file: "F", meta: "M" };
  expect(codeFields({ mirror: "encrypted", mac_from: "uid", keys })).toEqual({ mirror: "encrypted", mac_from: "uid", file_key: "F", meta_key: "M" });
  expect(codeFields({ mirror: "plain", mac_from: "none", keys })).toEqual({ mirror: "plain", mac_from: "none", file_key: "F" });
  expect(codeFields({ mirror: "plain", mac_from: "none", keys: { ...keys, source: "master", master: "7" } })).toEqual({
    mirror: "plain",
    mac_from: "none",
    master_key_id: 7,
  });
});

test("an inlay that is edited keeps its keys until others are entered", () => {
  const inlay = { mirror: "plain", mac_from: "none", key_source: "own" } as Inlay;
  expect(codeFields({ ...codesOfInlay(inlay), mac_from: "uid" })).toEqual({ mirror: "plain", mac_from: "uid" });
  expect(codesOfInlay({ ...inlay, mirror: null, key_source: null }).keys.source).toBe("own");
});

test("each setting that differs from the chip's is reported", () => {
  expect(disagreements(encrypted, { mirror: "encrypted", mac_from: "uid" })).toEqual([]);
  expect(disagreements(encrypted, { mirror: "plain", mac_from: "none" })).toHaveLength(2);
  expect(disagreements(off, { mirror: "plain", mac_from: "none" })).toEqual(["The chip makes no codes, but the settings here expect codes."]);
  expect(disagreements(encrypted, { mirror: "", mac_from: "none" })).toEqual(["The chip makes codes, but the settings here expect none."]);
  expect(disagreements({ kind: "unknown" }, { mirror: "plain", mac_from: "none" })).toEqual([]);
});

test("the chip's settings are described in words, with the slots of its keys", () => {
  expect(chipCodeWords(encrypted)).toBe("UID and counter encrypted; MAC input: URL from uid on; meta key in slot 1; file key in slot 2");
});
