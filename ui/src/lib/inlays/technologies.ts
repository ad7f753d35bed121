// The chips' capabilities, for forms and explanations. The service checks again; its rules are in
// `service/crates/inlay/src/technology.rs`.

import type { Mode, Technology } from "../api/types";

/** Chips that generate their codes in the same way. */
export type Family = "ntag424" | "ntag22x" | "sic43nt" | "sic43s1" | "ntag21x";
export type Placeholder = "slug" | "uid" | "counter" | "picc" | "enc" | "mac" | "tamper" | "*";

interface Facts {
  name: string;
  family: Family;
}

export const technologies: Record<Technology, Facts> = {
  ntag424dna: { name: "NTAG 424 DNA", family: "ntag424" },
  ntag424dna_tt: { name: "NTAG 424 DNA TagTamper", family: "ntag424" },
  ntag223dna: { name: "NTAG 223 DNA", family: "ntag22x" },
  ntag224dna: { name: "NTAG 224 DNA", family: "ntag22x" },
  sic43nt: { name: "SIC43NT", family: "sic43nt" },
  sic43s1: { name: "SIC43S1", family: "sic43s1" },
  ntag210: { name: "NTAG 210", family: "ntag21x" },
  ntag212: { name: "NTAG 212", family: "ntag21x" },
  ntag213: { name: "NTAG 213", family: "ntag21x" },
  ntag213tt: { name: "NTAG 213 TT", family: "ntag21x" },
  ntag215: { name: "NTAG 215", family: "ntag21x" },
  ntag216: { name: "NTAG 216", family: "ntag21x" },
  ultralight: { name: "MIFARE Ultralight", family: "ntag21x" },
};

/** All chips in two groups, for a choice. */
export const groups = [
  { name: "One-time codes", chips: of((family) => family !== "ntag21x") },
  { name: "No secret: a static URL, or UID and counter in clear", chips: of((family) => family === "ntag21x") },
];

function of(which: (family: Family) => boolean): [Technology, string][] {
  const all = Object.entries(technologies) as [Technology, Facts][];
  return all.filter(([, { family }]) => which(family)).map(([technology, { name }]) => [technology, name]);
}

export const chipName = (technology: Technology) => technologies[technology].name;
export const familyOf = (technology: Technology) => technologies[technology].family;

const withoutCounter: Technology[] = ["ntag210", "ntag212"];

/**
 * The number of characters that a chip writes for a placeholder; "any" if the template or the tag
 * decides, or `null` if the chip never writes it.
 */
export function lengthOf(technology: Technology, mode: Mode, placeholder: Placeholder): number | "any" | null {
  if (placeholder === "slug" || placeholder === "*") return "any";
  const family = familyOf(technology);
  if (placeholder === "uid") return 14;
  const of: Record<Family, Partial<Record<Placeholder, number | "any">>> = {
    ntag424: { counter: 6, picc: mode === "lrp" ? 48 : 32, enc: "any", mac: 16, ...(technology === "ntag424dna_tt" && { tamper: 2 }) },
    ntag22x: { counter: 6, tamper: 10, mac: 16 },
    sic43nt: { tamper: 2, counter: 8, mac: 8 },
    sic43s1: { tamper: 2, counter: 8, mac: 32 },
    ntag21x: { ...(!withoutCounter.includes(technology) && { counter: 6 }), ...(technology === "ntag213tt" && { tamper: 8 }) },
  };
  return of[family][placeholder] ?? null;
}

/** The highest counter of a chip. */
export const counterMax = (technology: Technology) => (familyOf(technology).startsWith("sic43") ? 0xffff_ffff : 0xff_ffff);

/** A warning about a chip for its owner. */
export interface Caution {
  text: string;
  source: { name: string; url: string };
}

/** The published weakness of a chip; `null` if none is known to us. */
export function knownWeakness(technology: Technology): Caution | null {
  if (familyOf(technology) !== "ntag22x") return null;
  return {
    text: "Known weakness: if the pages of the keys are not locked, the key can be recovered from the chip. Lock them when you encode.",
    source: { name: "IACR ePrint 2026/100", url: "https://eprint.iacr.org/2026/100" },
  };
}

/** The limits of a chip's codes, if they prove less than a tap. */
export function limits(technology: Technology): string | null {
  if (familyOf(technology) === "ntag21x") return "This chip has no key: anyone can copy its URL. Its taps are counted, but never verified.";
  if (technology === "sic43nt")
    return "Its codes have 32 bits. After 100 wrong codes in an hour Tapdesk stops checking that UID for a while.";
  return null;
}
