import { expect, test } from "vitest";
import { blankDerivation, defaultsOf, derivationOf, derivationWords, schemes, type Scheme } from "./derivations";

const of = (scheme: Scheme) => derivationOf({ ...blankDerivation(), ...defaultsOf(scheme), scheme });

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
