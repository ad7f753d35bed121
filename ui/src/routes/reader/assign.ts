// Assigns a tag to the inlay on the reader. The inlay is stored first: if the service
// refuses it, no tag has been created that would be left behind.

import { getVersion, patchVersion, post } from "../../lib/api/client";
import type { Inlay, Tag, Technology } from "../../lib/api/types";
import type { Reading } from "../../lib/shell/desktop";
import { codeFields, type Codes } from "../../lib/inlays/inlayCodes";
import { slugOf } from "../../lib/tap/tapUrl";

/** Whether the service supports this chip. */
export const assignable = (reading: Reading) => !["inconsistent", "other_type2", "other_type4", "unknown"].includes(reading.chip);

/** Whether the chip's own UID can be read. A random UID changes with each read. */
export const hasUid = (reading: Reading) => reading.uid?.length === 14 && !reading.random_uid;

/** Stores the inlay without binding it to a tag. */
export function register(reading: Reading, uid: string, codes: Codes): Promise<Inlay> {
  const inlay = { uid: uid.replaceAll(/[\s:]/g, ""), technology: reading.chip as Technology };
  return post("/inlays", { ...inlay, ...(reading.chip === "ntag424dna" && codeFields(codes)) });
}

/**
 * Binds an inlay to a tag; to a new tag if `tagId` is null. Fails if somebody else
 * has bound it since it was shown.
 */
export async function bind(inlay: Inlay, reading: Reading, tagId: number | null): Promise<void> {
  const { value, etag } = await getVersion("/inlays/{id}", { id: inlay.id });
  if (value.tag_id !== null) throw new Error("This inlay already has a tag.");
  const tag_id = tagId ?? (await newTag(inlay, reading)).id;
  await patchVersion("/inlays/{id}", { tag_id }, { id: inlay.id }, etag);
}

/** Creates a tag with the slug in the inlay's URL. */
function newTag(inlay: Inlay, reading: Reading): Promise<Tag> {
  const slug = slugOf(reading.url);
  const name = slug ? `Tag ${slug}` : `Tag of inlay ${inlay.uid}`;
  const fits = slug !== null && /^[a-z0-9-]{6,32}$/.test(slug);
  return post("/tags", { name, ...(fits && { slug }) });
}
