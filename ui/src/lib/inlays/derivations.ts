// The ways to derive inlays' keys from a master key: their names, their options, and their
// descriptions.

import type { Derivation } from "../api/types";

export type Scheme = Derivation["scheme"];

/** The values of a form; each scheme uses some of them. */
export interface DerivationFields {
  scheme: Scheme;
  input: string;
  diversify_meta: boolean;
  version: number | null;
  meta_slot: number | null;
  file_slot: number | null;
  system_id: string;
}

export const schemes: Record<Scheme, { name: string; about: string }> = {
  an10922: { name: "NXP AN10922", about: "The keys of each inlay are diversified by its UID and an input of your encoder." },
  boltcard: { name: "boltcard", about: "Key 1 is the meta key of all cards of the issuer, key 2 the file key of each card." },
  sdm_backend: { name: "sdm-backend", about: "The schemes of the sdm-backend server. Its master key may have any length." },
  ntag424_crate: { name: "ntag424 (Rust)", about: "The layout of the ntag424 crate: one meta key for all, file keys by UID and slot." },
  plain_cmac: { name: "Plain CMAC", about: "A CMAC over an input, without the padding of AN10922." },
};

export const blankDerivation = (): DerivationFields => ({
  scheme: "an10922",
  input: "{uid}",
  diversify_meta: true,
  version: 1,
  meta_slot: 1,
  file_slot: 2,
  system_id: "",
});

/** The initial values of a scheme, if it has its own. */
export const defaultsOf = (scheme: Scheme): Partial<DerivationFields> =>
  ({
    an10922: { input: "{uid}" },
    plain_cmac: { input: "01{uid}" },
    boltcard: { version: 1 },
    sdm_backend: { version: 2, meta_slot: 1, file_slot: 2 },
    ntag424_crate: { file_slot: 2 },
  })[scheme];

/** The member of a request to the service. */
export function derivationOf({ scheme, input, diversify_meta, version, meta_slot, file_slot, system_id }: DerivationFields): Derivation {
  switch (scheme) {
    case "an10922":
      return { scheme, input: input.trim(), diversify_meta };
    case "plain_cmac":
      return { scheme, input: input.trim() };
    case "boltcard":
      return { scheme, version: version ?? 0 };
    case "sdm_backend":
      return { scheme, version: version ?? 2, meta_slot: meta_slot ?? 1, file_slot: file_slot ?? 2 };
    case "ntag424_crate":
      return { scheme, system_id, file_slot: file_slot ?? 2 };
  }
}

/** A derivation described in one line. */
export function derivationWords(derivation: Derivation): string {
  const name = schemes[derivation.scheme].name;
  switch (derivation.scheme) {
    case "an10922":
      return `${name}, input ${derivation.input}, ${derivation.diversify_meta ? "meta key diversified" : "one meta key for all"}`;
    case "plain_cmac":
      return `${name}, input ${derivation.input}`;
    case "boltcard":
      return `${name}, version ${derivation.version}; meta key in slot 1, file key in slot 2`;
    case "sdm_backend":
      return `${name}, version ${derivation.version}; meta key in slot ${derivation.meta_slot}, file key in slot ${derivation.file_slot}`;
    case "ntag424_crate":
      return `${name}, ${derivation.system_id ? `system ${derivation.system_id}, ` : ""}file key in slot ${derivation.file_slot}`;
  }
}
