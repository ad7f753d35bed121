// Giving an inlay that lies on the reader a tag. The inlay comes first: what is
// refused is refused before a tag is made, so that none is left behind.

import { patch, post } from "../../lib/api/client";
import type { Inlay, Tag } from "../../lib/api/types";
import type { Laid } from "../../lib/desktop";
import { codeFields, type Codes } from "../../lib/inlayCodes";
import { slugOf } from "../../lib/tapUrl";

/** Chips that the service knows. */
export const assignable = (laid: Laid) => !["inconsistent", "other_type2", "other_type4", "unknown"].includes(laid.chip);

/** Whether the chip's own UID can be read: a random one is another one the next time. */
export const hasUid = (laid: Laid) => laid.uid?.length === 14 && !laid.random_uid;

/** Stores the inlay, bound to no tag yet. */
export function register(laid: Laid, uid: string, codes: Codes): Promise<Inlay> {
  const inlay = { uid: uid.replaceAll(/[\s:]/g, ""), technology: laid.chip };
  return post<Inlay>("/inlays", { ...inlay, ...(laid.chip === "ntag424dna" && codeFields(codes)) });
}

/** Binds an inlay to a tag, a new one if none is named. */
export async function bind(inlay: Inlay, laid: Laid, tagId: number | null): Promise<Inlay> {
  const tag_id = tagId ?? (await newTag(inlay, laid)).id;
  return patch<Inlay>(`/inlays/${inlay.id}`, { tag_id });
}

/** A new tag of the address that stands on the inlay. */
function newTag(inlay: Inlay, laid: Laid): Promise<Tag> {
  const slug = slugOf(laid.url);
  const name = slug ? `Tag ${slug}` : `Tag of inlay ${inlay.uid}`;
  const fits = slug !== null && /^[a-z0-9-]{6,32}$/.test(slug);
  return post<Tag>("/tags", { name, ...(fits && { slug }) });
}
