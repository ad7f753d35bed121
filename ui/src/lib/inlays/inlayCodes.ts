// The settings of an inlay's codes and its keys in a form, before they are sent. The service never
// returns keys.

import type { Inlay, InlayPatch, MacFrom, Mirror, Technology } from "../api/types";
import type { ChipCodes } from "../shell/desktop";
import { usualChip } from "./technologies";
import { technologies } from "./technologies.svelte";
import { has } from "./urlTemplate";

/** The source of the keys of a rolling-code inlay; `same` keeps the stored keys. */
export interface Keys {
  source: "master" | "own" | "same";
  master: string;
  file: string;
  meta: string;
  /** Allows the all-zero factory key. */
  factory: boolean;
}

/**
 * The settings of the codes; an inlay in the canonical form without a mirror generates no codes.
 */
export interface Codes {
  /** The URL template; `null` for the canonical form, the only one that uses the next two. */
  template: number | null;
  mirror: Mirror | "";
  mac_from: MacFrom;
  keys: Keys;
}

/** The keys that an inlay's codes need. */
export interface Needs {
  meta: boolean;
  /** The length of the file key in hex digits; `null` without codes. */
  digits: number | null;
  /** Whether a master key can derive them. */
  derivable: boolean;
}

export const noKeys: Keys = { source: "own", master: "", file: "", meta: "", factory: false };
export const noCodes = (): Codes => ({ template: null, mirror: "", mac_from: "none", keys: { ...noKeys } });

/** Initial values of a form, from the chip's own settings. */
export const codesOfChip = (chip: ChipCodes): Codes => ({
  ...noCodes(),
  mirror: (chip.kind === "on" && chip.mirror) || "",
  mac_from: (chip.kind === "on" && chip.mac_from) || "none",
});

/** Initial values of a form, from the stored inlay. */
export const codesOfInlay = (inlay: Inlay): Codes => ({
  template: inlay.url_template_id,
  mirror: inlay.mirror ?? "",
  mac_from: inlay.mac_from,
  keys: { ...noKeys, source: inlay.key_source === null ? "own" : "same" },
});

/** The keys that codes of the canonical form need, or those of the template with this text. */
export function needsOf(technology: Technology, { mirror }: Pick<Codes, "mirror">, template: string | null = null): Needs {
  const chip = technologies.find(technology);
  const makesThem = template !== null || (chip?.canonical && mirror !== "");
  if (!chip || !makesThem) return { meta: false, digits: null, derivable: false };
  const encrypted = template === null ? mirror === "encrypted" : has(template, "picc");
  return { meta: chip.meta_key && encrypted, digits: chip.key_digits, derivable: chip.aes_keys };
}

/** The members of a request to the service. */
export function codeFields(
  { template, mirror, mac_from, keys }: Codes,
  needs = needsOf(usualChip, { mirror }),
): Omit<InlayPatch, "tag_id" | "other_keys"> {
  const form =
    template === null
      ? { mirror: mirror || null, ...(mirror && { mac_from }) }
      : { url_template_id: template, mirror: null, mac_from: "none" as const };
  if (needs.digits === null) return form;
  const secrets = {
    same: {},
    master: { master_key_id: Number(keys.master), ...(needs.meta && keys.meta.trim() && { meta_key: keys.meta.trim() }) },
    own: { file_key: keys.file.trim(), ...(needs.meta && { meta_key: keys.meta.trim() }) },
  };
  return { ...form, ...secrets[keys.source], ...(keys.source === "own" && keys.factory && { allow_factory_keys: true }) };
}

/** Whether taps of an inlay have a code. */
export const makesCodes = (inlay: Pick<Inlay, "mirror" | "url_template_id">) => inlay.mirror !== null || inlay.url_template_id !== null;

/** The names of the chip's mirrors. */
export const mirrorWords: Record<Mirror, string> = { plain: "UID and counter in clear", encrypted: "UID and counter encrypted" };
/** The names of the MAC's inputs. */
export const macWords: Record<MacFrom, string> = { none: "empty", uid: "URL from uid on" };

/**
 * A note for the owner if codes are not in the canonical form, or do not verify a tap; null if
 * there is none.
 */
export function chipCodeNote(chip: ChipCodes): string | null {
  if (chip.kind !== "on") return null;
  return chip.problem ?? (chip.canonical ? null : "Its codes are not in uid and token: they verify by a URL template.");
}

/** A description of the chip's codes. */
export function chipCodeWords(chip: ChipCodes): string {
  if (chip.kind === "unknown") return "unknown";
  if (chip.kind === "off") return "none that prove a tap";
  const parts = [chip.mirror ? mirrorWords[chip.mirror] : "neither UID nor counter"];
  if (chip.mac_from) parts.push(`MAC input: ${macWords[chip.mac_from]}`);
  if (chip.meta_key !== null) parts.push(`meta key in slot ${chip.meta_key}`);
  if (chip.file_key !== null) parts.push(`file key in slot ${chip.file_key}`);
  return parts.join("; ");
}

/** A description of a stored inlay's codes. */
export function inlayCodeWords({ mirror, mac_from, file_key_check, url_template_id }: Inlay): string {
  const key = file_key_check ? `; file key ${file_key_check}` : "";
  if (url_template_id !== null) return `URL template ${url_template_id}${key}`;
  return mirror ? `${mirrorWords[mirror]}; MAC input: ${macWords[mac_from]}${key}` : "static, no codes";
}

/**
 * The settings here that differ from the chip, so that its codes do not verify, as a sentence each.
 * A URL template defines its codes itself, so it is not compared.
 */
export function disagreements(
  chip: ChipCodes,
  codes: { mirror: Mirror | "" | null; mac_from: MacFrom; url_template_id?: number | null },
): string[] {
  if (chip.kind === "unknown" || codes.url_template_id != null) return [];
  if (chip.kind === "off") return codes.mirror ? ["The chip makes no codes, but the settings here expect codes."] : [];
  if (!codes.mirror) return ["The chip makes codes, but the settings here expect none."];
  const found: string[] = [];
  if (chip.mirror && chip.mirror !== codes.mirror) {
    found.push(`The chip sends ${mirrorWords[chip.mirror]}, but the setting here is ${mirrorWords[codes.mirror]}.`);
  }
  if (chip.mac_from && chip.mac_from !== codes.mac_from) {
    found.push(`The MAC input of the chip is ${macWords[chip.mac_from]}, but the setting here is ${macWords[codes.mac_from]}.`);
  }
  return found;
}
