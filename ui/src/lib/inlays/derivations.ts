// The ways to derive inlays' keys from a master key: their names and descriptions. Their options and
// the length of their master keys come from the service.

import type { Derivation } from "../api/types";
import { technologies } from "./technologies.svelte";

export type Scheme = Derivation["scheme"];

/** The values of a form; each scheme uses those that its usual values have. */
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

/** The scheme that a form begins with; its options are filled by `usualOf`. */
export const blankDerivation = (scheme: Scheme = "an10922"): DerivationFields => ({
  scheme,
  input: "",
  diversify_meta: false,
  version: null,
  meta_slot: null,
  file_slot: null,
  system_id: "",
  ...usualOf(scheme),
});

const find = (scheme: Scheme) => technologies.schemes.find(({ usual }) => usual.scheme === scheme);

/** All options of a scheme, with their usual values; none until the service has answered. */
export const usualOf = (scheme: Scheme): Partial<DerivationFields> => find(scheme)?.usual ?? {};

/** The member of a request to the service: the options of the scheme, and no others. */
export function derivationOf(fields: DerivationFields): Derivation {
  const names = Object.keys(usualOf(fields.scheme)) as (keyof DerivationFields)[];
  const options = names.map((name) => [name, name === "input" ? fields.input.trim() : fields[name]]);
  return Object.fromEntries(options) as Derivation;
}

/** The length of a scheme's master key, as in "2 to 128"; empty until the service has answered. */
export function masterDigits(scheme: Scheme): string {
  const { master_digits_min: least = null, master_digits_max: most = null } = find(scheme) ?? {};
  return least === most ? `${most ?? ""}` : `${least} to ${most}`;
}

/**
 * Whether a text can be the master key of some scheme; any whole bytes can until the service has
 * answered.
 */
export const isMasterKey = (text: string) =>
  /^([0-9a-f]{2})+$/i.test(text) &&
  (technologies.schemes.length === 0 ||
    technologies.schemes.some(
      ({ master_digits_min, master_digits_max }) => text.length >= master_digits_min && text.length <= master_digits_max,
    ));

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
