// The settings of an inlay's codes and its keys, as a form holds them before they are
// sent. The service never returns keys.

import type { Inlay, InlayPatch, MacFrom, Mirror } from "./api/types";
import type { ChipCodes } from "./desktop";

/** The source of the keys of a rolling-code inlay; `same` keeps the stored keys. */
export interface Keys {
  source: "master" | "own" | "same";
  master: string;
  file: string;
  meta: string;
  /** Allows the all-zero factory key. */
  factory: boolean;
}

/** The settings of the codes; an inlay without a mirror makes none. */
export interface Codes {
  mirror: Mirror | "";
  mac_from: MacFrom;
  keys: Keys;
}

export const noKeys: Keys = { source: "own", master: "", file: "", meta: "", factory: false };

/** Initial values of a form, from the chip's own settings. */
export const codesOfChip = (chip: ChipCodes): Codes => ({
  mirror: (chip.kind === "on" && chip.mirror) || "",
  mac_from: (chip.kind === "on" && chip.mac_from) || "none",
  keys: { ...noKeys },
});

/** Initial values of a form, from the stored inlay. */
export const codesOfInlay = (inlay: Inlay): Codes => ({
  mirror: inlay.mirror ?? "",
  mac_from: inlay.mac_from,
  keys: { ...noKeys, source: inlay.key_source === null ? "own" : "same" },
});

/** The members of a request to the service. */
export function codeFields({ mirror, mac_from, keys }: Codes): Omit<InlayPatch, "tag_id"> {
  if (mirror === "") return { mirror: null };
  const secrets = {
    same: {},
    master: { master_key_id: Number(keys.master) },
    own: { file_key: keys.file, ...(mirror === "encrypted" && { meta_key: keys.meta }) },
  };
  return { mirror, mac_from, ...secrets[keys.source], ...(keys.source === "own" && keys.factory && { allow_factory_keys: true }) };
}

/** What the chip mirrors into its URL. */
export const mirrorWords: Record<Mirror, string> = { plain: "UID and counter in clear", encrypted: "UID and counter encrypted" };
/** The input of the MAC. */
export const macWords: Record<MacFrom, string> = { none: "empty", uid: "URL from uid on" };

/** The chip's codes in words. */
export function chipCodeWords(chip: ChipCodes): string {
  if (chip.kind === "unknown") return "unknown";
  if (chip.kind === "off") return "none: its URL never changes";
  const parts = [chip.mirror ? mirrorWords[chip.mirror] : "neither UID nor counter"];
  if (chip.mac_from) parts.push(`MAC input: ${macWords[chip.mac_from]}`);
  if (chip.meta_key !== null) parts.push(`meta key in slot ${chip.meta_key}`);
  if (chip.file_key !== null) parts.push(`file key in slot ${chip.file_key}`);
  return parts.join("; ");
}

/** The codes of a stored inlay in words. */
export const inlayCodeWords = ({ mirror, mac_from, file_key_check }: Inlay): string =>
  mirror ? `${mirrorWords[mirror]}; MAC input: ${macWords[mac_from]}; file key ${file_key_check}` : "static, no codes";

/** The settings here that differ from the chip, so that its codes do not verify; a sentence for each. */
export function disagreements(chip: ChipCodes, codes: { mirror: Mirror | "" | null; mac_from: MacFrom }): string[] {
  if (chip.kind === "unknown") return [];
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
