// How an inlay makes its codes, and with which keys, as a form holds it before
// it is sent. Keys go to the service and never come back.

import type { Inlay, MacFrom, Mirror } from "./api/types";
import type { ChipCodes } from "./desktop";

/** Where the keys of a rolling-code inlay come from; `same`: they stay as they are. */
export interface Keys {
  source: "master" | "own" | "same";
  master: string;
  file: string;
  meta: string;
  /** Takes the all-zero factory key, too. */
  factory: boolean;
}

/** How an inlay makes codes; without a mirror it makes none. */
export interface Codes {
  mirror: Mirror | "";
  mac_from: MacFrom;
  keys: Keys;
}

export const noKeys: Keys = { source: "own", master: "", file: "", meta: "", factory: false };

/** What a form begins with, by the chip's own settings. */
export const codesOfChip = (chip: ChipCodes): Codes => ({
  mirror: (chip.kind === "on" && chip.mirror) || "",
  mac_from: (chip.kind === "on" && chip.mac_from) || "none",
  keys: { ...noKeys },
});

/** The same by what the service has. */
export const codesOfInlay = (inlay: Inlay): Codes => ({
  mirror: inlay.mirror ?? "",
  mac_from: inlay.mac_from,
  keys: { ...noKeys, source: inlay.key_source === null ? "own" : "same" },
});

/** The members of a request. */
export function codeFields({ mirror, mac_from, keys }: Codes): Record<string, unknown> {
  if (mirror === "") return { mirror: null };
  const secrets = {
    same: {},
    master: { master_key_id: Number(keys.master) },
    own: { file_key: keys.file, ...(mirror === "encrypted" && { meta_key: keys.meta }) },
  };
  return { mirror, mac_from, ...secrets[keys.source], ...(keys.source === "own" && keys.factory && { allow_factory_keys: true }) };
}

const mirrors = { plain: "plain", encrypted: "encrypted" };
const windows = { none: "nothing", uid: "the URL from uid on" };

/** Codes as the chip makes them, in words. */
export function chipCodeWords(chip: ChipCodes): string {
  if (chip.kind === "unknown") return "it does not tell";
  if (chip.kind === "off") return "none: what it carries never changes";
  const parts = [chip.mirror ? `${mirrors[chip.mirror]} mirror` : "neither UID nor counter"];
  if (chip.mac_from) parts.push(`MAC over ${windows[chip.mac_from]}`);
  if (chip.meta_key !== null) parts.push(`meta key in slot ${chip.meta_key}`);
  if (chip.file_key !== null) parts.push(`file key in slot ${chip.file_key}`);
  return parts.join(", ");
}

/** Where the settings here differ from those of the chip: its codes will not verify. */
export function disagreements(chip: ChipCodes, codes: { mirror: Mirror | "" | null; mac_from: MacFrom }): string[] {
  if (chip.kind === "unknown") return [];
  if (chip.kind === "off") return codes.mirror ? ["The chip makes no codes, and is set here to make some."] : [];
  if (!codes.mirror) return ["The chip makes codes, and is set here to make none."];
  const found: string[] = [];
  if (chip.mirror && chip.mirror !== codes.mirror) {
    found.push(`The chip uses the ${mirrors[chip.mirror]} mirror, and is set here to the ${mirrors[codes.mirror]} one.`);
  }
  if (chip.mac_from && chip.mac_from !== codes.mac_from) {
    found.push(`The chip makes its MAC over ${windows[chip.mac_from]}, and is set here to make it over ${windows[codes.mac_from]}.`);
  }
  return found;
}
