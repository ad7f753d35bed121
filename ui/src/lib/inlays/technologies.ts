// The chips' abilities, for forms and explanations. The facts come from the service, which checks
// again; only words for people are here.

import type { Mode, Technology, TechnologyView } from "../api/types";
import { technologies } from "./technologies.svelte";

/** The chip that forms begin with, and that the service encodes if a request names none. */
export const usualChip: Technology = "ntag424dna";

export type Placeholder = "slug" | "uid" | "counter" | "picc" | "enc" | "mac" | "tamper" | "*";

/** All chips in two groups, for a choice. */
export const groups = (): { name: string; chips: [Technology, string][] }[] => [
  { name: "One-time codes", chips: of((chip) => chip.rolls) },
  { name: "No secret: a static URL, or UID and counter in clear", chips: of((chip) => !chip.rolls) },
];

const of = (which: (chip: TechnologyView) => boolean) =>
  technologies.all.filter(which).map(({ technology, name }): [Technology, string] => [technology, name]);

/** The product name of a chip. */
export const chipName = (technology: Technology) => technologies.find(technology)?.name ?? technology;

/** The product name of a chip, with its mode if that is LRP. */
export const chipWords = (technology: Technology, mode: Mode) => `${chipName(technology)}${mode === "lrp" ? ", LRP" : ""}`;

/** Whether Tapdesk writes these chips. */
export const isEncodable = (technology: Technology) => technologies.find(technology)?.encodable ?? false;

/** A mode of a chip; the only one of a chip whose templates have no other. */
const modeOf = (technology: Technology, mode: Mode) => {
  const modes = technologies.find(technology)?.modes;
  return modes?.find((one) => one.mode === mode) ?? modes?.[0];
};

/** Whether a bureau can encode these chips for a factory order. */
export const isOrderable = (technology: Technology, mode: Mode) => modeOf(technology, mode)?.orderable ?? false;

/** The most shared keys of a URL template; 0 until the service has answered. */
export const sharedKeysMax = (technology: Technology, mode: Mode) => modeOf(technology, mode)?.shared_keys_max ?? 0;

/** Whether a chip can make codes in Tapdesk's own form, without a URL template. */
export const isCanonical = (technology: Technology) => technologies.find(technology)?.canonical ?? false;

/** Whether a chip makes codes, with a key. */
export const hasKey = (technology: Technology) => technologies.find(technology)?.rolls ?? true;

/** The chips without keys that Tapdesk writes. */
export const staticChips = (): Technology[] => of((chip) => chip.encodable && !chip.rolls).map(([technology]) => technology);

/**
 * The number of characters that a chip writes for a placeholder; "any" if the template or the tag
 * decides, or `null` if the chip never writes it.
 */
export function lengthOf(technology: Technology, mode: Mode, placeholder: Placeholder): number | "any" | null {
  if (placeholder === "slug" || placeholder === "*") return "any";
  if (placeholder === "enc") return technologies.find(technology)?.encrypts_data ? "any" : null;
  return modeOf(technology, mode)?.[placeholder] ?? null;
}

/** The highest counter of a chip. */
export const counterMax = (technology: Technology) => technologies.find(technology)?.counter_max ?? 0xffff_ffff;

/** The characters that a chip writes for a closed loop; `null` if it has no loop. */
export const closedLoop = (technology: Technology) => technologies.find(technology)?.closed_loop ?? null;

/** Whether the URL for a chip of the kind `wanted` can be written to a chip of the kind `found`. */
export const serves = (found: string, wanted: Technology) => technologies.find(found)?.serves_as.includes(wanted) ?? found === wanted;

/** The length of a chip's keys, in hex digits; `null` if it has none. */
export const keyDigits = (technology: Technology) => technologies.find(technology)?.key_digits ?? null;

/** The lengths that keys have, in hex digits, the longest first. */
const keyLengths = () => [...new Set(technologies.all.flatMap(({ key_digits }) => key_digits ?? []))].sort((one, other) => other - one);

/** The lengths that keys have, as in "32, or 20 of a SIC43NT". */
export function keyLengthWords(): string {
  const [longest, ...others] = keyLengths();
  const named = others.map((length) => {
    const names = technologies.all.filter(({ key_digits }) => key_digits === length).map(({ name }) => name);
    return `, or ${length} of a ${names.join(" or ")}`;
  });
  return `${longest}${named.join("")}`;
}

/** Whether a text can be a key of some chip; any hex digits can until the service has answered. */
export const isKey = (text: string) => /^[0-9a-f]+$/i.test(text) && (technologies.all.length === 0 || keyLengths().includes(text.length));

/** The published weakness of a chip; `null` if none is known to us. */
export const knownWeakness = (technology: Technology) => technologies.find(technology)?.weakness ?? null;

/** The limits of a chip's codes, if they prove less than a tap. */
export function limits(technology: Technology): string | null {
  const chip = technologies.find(technology);
  if (chip && !chip.rolls) return "This chip has no key: anyone can copy its URL. Its taps are counted, but never verified.";
  if (chip?.guessable) return "Its codes have 32 bits. After 100 wrong codes in an hour Tapdesk stops checking that UID for a while.";
  return null;
}
