// The names of chips that readers can recognize.

import type { Technology } from "../api/types";
import { technologies } from "../inlays/technologies";
import type { Reading } from "../shell/desktop";

/** The product names of chips. */
export const chipNames: Record<Reading["chip"], string> = {
  ntag424dna: "NTAG 424 DNA",
  ntag424dna_tt: "NTAG 424 DNA TagTamper",
  ntag210: "NTAG210",
  ntag212: "NTAG212",
  ntag213: "NTAG213",
  ntag213tt: "NTAG213 TT",
  ntag215: "NTAG215",
  ntag216: "NTAG216",
  ntag223dna: "NTAG 223 DNA",
  ntag224dna: "NTAG 224 DNA",
  ultralight: "MIFARE Ultralight",
  inconsistent: "A chip that names two UIDs",
  other_type2: "Another Type 2 tag",
  other_type4: "Another Type 4 tag",
  unknown: "Not a tag",
};

/** The chip on the reader, and the chip that an encoding needs, if they are known. */
export interface Chips {
  found: Reading["chip"] | null;
  wanted: Technology | null;
}

/** Both chips in two sentences; null if one is unknown, or if they are compatible. */
export function bothChips({ found, wanted }: Chips): string | null {
  if (found === null || wanted === null || found === wanted) return null;
  if (found === "ntag424dna_tt" && wanted === "ntag424dna") return null;
  const known = (Object.keys(technologies) as string[]).includes(found);
  const name = known ? technologies[found as Technology].name : chipNames[found];
  if (found === "unknown") return `This is not a tag. The URL is for ${withArticle(technologies[wanted].name)}.`;
  return `This is ${withArticle(name)}. The URL is for ${withArticle(technologies[wanted].name)}.`;
}

function withArticle(name: string): string {
  if (/^(A|An|Another) /.test(name)) return name.charAt(0).toLowerCase() + name.slice(1);
  return `${name.startsWith("N") ? "an" : "a"} ${name}`;
}
