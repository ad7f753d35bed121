// The names of chips that readers can recognize.

import type { Technology } from "../api/types";
import { chipName, serves } from "../inlays/technologies";
import type { Reading } from "../shell/desktop";

/** The names of the chips that are no technology of the service. */
const otherNames: Record<Exclude<Reading["chip"], Technology>, string> = {
  inconsistent: "A chip that names two UIDs",
  other_type2: "Another Type 2 tag",
  other_type4: "Another Type 4 tag",
  unknown: "Not a tag",
};

const isOther = (chip: Reading["chip"]): chip is keyof typeof otherNames => Object.hasOwn(otherNames, chip);

/** The product name of a chip on a reader. */
export const foundName = (chip: Reading["chip"]) => (isOther(chip) ? otherNames[chip] : chipName(chip));

/** The chip on the reader, and the chip that an encoding needs, if they are known. */
export interface Chips {
  found: Reading["chip"] | null;
  wanted: Technology | null;
}

/** Both chips in two sentences; null if one is unknown, or if they are compatible. */
export function bothChips({ found, wanted }: Chips): string | null {
  if (found === null || wanted === null || serves(found, wanted)) return null;
  const needed = `The URL is for ${withArticle(chipName(wanted))}.`;
  return found === "unknown" ? `This is not a tag. ${needed}` : `This is ${withArticle(foundName(found))}. ${needed}`;
}

function withArticle(name: string): string {
  if (/^(A|An|Another) /.test(name)) return name.charAt(0).toLowerCase() + name.slice(1);
  return `${name.startsWith("N") ? "an" : "a"} ${name}`;
}
