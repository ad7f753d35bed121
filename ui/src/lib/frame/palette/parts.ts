// Parts of serial numbers and UIDs, as people type them.

import type { Tag } from "../../api/types";

/** A part of a UID: hex digits, at most all of them. */
const UID_PART = /^[0-9a-f]{4,14}$/;

/**
 * Only the letters and digits of a text, because serial numbers and UIDs are written with and
 * without separators.
 */
const bare = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();

/** Whether words can be a part of a serial number or a UID: short ones and names match too much. */
export const isPart = (words: string): boolean => bare(words).length >= 4 && /\d/.test(words);

/** The part of a UID that these words are; `null` if they are none. */
export const uidPart = (words: string): string | null => (isPart(words) && UID_PART.test(bare(words)) ? bare(words) : null);

/** The attribute of a tag that contains these words, as a result shows it. */
export function attributeWith(tag: Pick<Tag, "attributes">, words: string): string | undefined {
  if (!isPart(words)) return undefined;
  const found = Object.entries(tag.attributes ?? {}).find(([, value]) => bare(value).includes(bare(words)));
  return found && `${found[0]}: ${found[1]}`;
}
