import { expect, test } from "vitest";
import { blankDerivation, derivationOf, derivationWords, isMasterKey, masterDigits, schemes, usualOf, type Scheme } from "./derivations";
import { technologies } from "./technologies.svelte";
import "./knownChips";

const of = (scheme: Scheme) => derivationOf({ ...blankDerivation(), ...usualOf(scheme), scheme });

test("the schemes of the service are those with a name here", () => {
  expect(technologies.schemes.map(({ usual }) => usual.scheme).sort()).toEqual(Object.keys(schemes).sort());
});

test("a form begins with a scheme's usual values", () => {
  expect(blankDerivation()).toMatchObject({ scheme: "an10922", input: "{uid}", diversify_meta: true });
  expect(blankDerivation("sdm_backend")).toMatchObject({ version: 2, meta_slot: 1, file_slot: 2 });
});

test("a master key has the length that its scheme takes", () => {
  expect([masterDigits("an10922"), masterDigits("sdm_backend")]).toEqual(["32", "2 to 128"]);
  const keys = ["00".repeat(16), "0a", "0A".repeat(64), "00".repeat(65), "000", "zz", ""];
  expect(keys.map(isMasterKey)).toEqual([true, true, true, false, false, false, false]);
});

test("each scheme is sent with its own options and no others", () => {
  expect(of("an10922")).toEqual({ scheme: "an10922", input: "{uid}", diversify_meta: true });
  expect(of("plain_cmac")).toEqual({ scheme: "plain_cmac", input: "01{uid}" });
  expect(of("boltcard")).toEqual({ scheme: "boltcard", version: 1 });
  expect(of("sdm_backend")).toEqual({ scheme: "sdm_backend", version: 2, meta_slot: 1, file_slot: 2 });
  expect(of("ntag424_crate")).toEqual({ scheme: "ntag424_crate", system_id: "", file_slot: 2 });
});

test("each is described with its slots or its input", () => {
  for (const scheme of Object.keys(schemes) as Scheme[]) expect(derivationWords(of(scheme))).toMatch(/slot|input/);
});
