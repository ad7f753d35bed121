// The chips' abilities, for forms and explanations. The facts come from the service, which checks
// again; only words for people are here.

import type { Mode, Technology, TechnologyView } from "../api/types";
import { technologies } from "./technologies.svelte";

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

/** The chips that generate their codes in the same way; `undefined` until the service has answered. */
export const familyOf = (technology: Technology) => technologies.find(technology)?.family;

/** Whether Tapdesk writes these chips. */
export const isEncodable = (technology: Technology) => technologies.find(technology)?.encodable ?? false;

/** The chips without keys that Tapdesk writes. */
export const staticChips = (): Technology[] => of((chip) => chip.encodable && !chip.rolls).map(([technology]) => technology);

/**
 * The number of characters that a chip writes for a placeholder; "any" if the template or the tag
 * decides, or `null` if the chip never writes it.
 */
export function lengthOf(technology: Technology, mode: Mode, placeholder: Placeholder): number | "any" | null {
  if (placeholder === "slug" || placeholder === "*") return "any";
  const chip = technologies.find(technology);
  if (placeholder === "enc") return chip?.encrypts_data ? "any" : null;
  const lengths = chip?.modes.find((one) => one.mode === mode) ?? chip?.modes[0];
  return lengths?.[placeholder] ?? null;
}

/** The highest counter of a chip. */
export const counterMax = (technology: Technology) => technologies.find(technology)?.counter_max ?? 0xffff_ffff;

/** The characters that a chip writes for a closed loop; `null` if it has no loop. */
export const closedLoop = (technology: Technology) => technologies.find(technology)?.closed_loop ?? null;

/** The published weakness of a chip; `null` if none is known to us. */
export const knownWeakness = (technology: Technology) => technologies.find(technology)?.weakness ?? null;

/** The limits of a chip's codes, if they prove less than a tap. */
export function limits(technology: Technology): string | null {
  const chip = technologies.find(technology);
  if (chip && !chip.rolls) return "This chip has no key: anyone can copy its URL. Its taps are counted, but never verified.";
  if (chip?.guessable) return "Its codes have 32 bits. After 100 wrong codes in an hour Tapdesk stops checking that UID for a while.";
  return null;
}
