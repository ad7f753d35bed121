// Assigns a tag to the inlay on the reader. The inlay is stored first: if the service refuses it,
// no unused tag is left behind.

import { getVersion, patchVersion, post } from "../../lib/api/client";
import type { Inlay, Tag, Technology } from "../../lib/api/types";
import type { Reading } from "../../lib/shell/desktop";
import { codeFields, type Codes, type Needs } from "../../lib/inlays/inlayCodes";
import { hasKey, isCanonical } from "../../lib/inlays/technologies";
import { technologies } from "../../lib/inlays/technologies.svelte";
import { uidOfChip } from "../../lib/inlays/uid";
import { isSlug } from "../../lib/tap/slug";
import { slugOf } from "../../lib/tap/tapUrl";

/** The chip's technology in the service; null if the reader cannot identify the chip. */
export const technologyOf = ({ chip }: Pick<Reading, "chip">): Technology | null => technologies.find(chip)?.technology ?? null;

/** Whether it can make codes in Tapdesk's own form. */
export const canonical = (reading: Pick<Reading, "chip">) => {
  const technology = technologyOf(reading);
  return technology !== null && isCanonical(technology);
};

/**
 * Whether it can get a tag here: other chips with keys need a URL template, which is chosen on the
 * tag's page.
 */
export const assignable = (reading: Reading) => {
  const technology = technologyOf(reading);
  return technology !== null && (isCanonical(technology) || !hasKey(technology));
};

/** Whether the chip's own UID can be read. A random UID changes with each read. */
export const hasUid = (reading: Reading) => uidOfChip(reading) !== null;

/** Stores the inlay without binding it to a tag. */
export function register(reading: Reading, uid: string, codes: Codes, needs?: Needs): Promise<Inlay> {
  const inlay = { uid: uid.replaceAll(/[\s:]/g, ""), technology: reading.chip as Technology };
  return post("/inlays", { ...inlay, ...(canonical(reading) && codeFields(codes, needs)) });
}

/**
 * Binds an inlay to a tag; to a new tag if `tagId` is null. Fails if another person has bound it
 * since it was shown.
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
  const fits = slug !== null && isSlug(slug);
  return post("/tags", { name, ...(fits && { slug }) });
}
