// Giving an inlay that lies on the reader a tag.

import { post } from "../../lib/api/client";
import type { Inlay, Tag } from "../../lib/api/types";
import type { Laid } from "../../lib/desktop";
import { mirrorOf, slugOf } from "./url";

/** Where the keys of a rolling-code inlay come from. */
export interface Keys {
  source: "master" | "own";
  master: string;
  file: string;
  meta: string;
}

export const noKeys: Keys = { source: "own", master: "", file: "", meta: "" };

/** Chips that the service knows. */
export const assignable = (laid: Laid) =>
  laid.uid?.length === 14 && !["other_type2", "other_type4", "unknown"].includes(laid.chip);

/** Whether its code is made with keys that have to be given. */
export const needsKeys = (laid: Laid) => laid.chip === "ntag424dna" && mirrorOf(laid.url) !== null;

/** Binds the inlay to a tag. */
export function bind(laid: Laid, tagId: number, keys: Keys): Promise<Inlay> {
  const mirror = mirrorOf(laid.url);
  const inlay = { uid: laid.uid, technology: laid.chip, tag_id: tagId };
  if (!needsKeys(laid)) return post("/inlays", inlay);
  const secret =
    keys.source === "master"
      ? { master_key_id: Number(keys.master) }
      : { file_key: keys.file, ...(mirror === "encrypted" && { meta_key: keys.meta }) };
  return post("/inlays", { ...inlay, mirror, ...secret });
}

/** A new tag of the address that stands on the inlay. */
export function tagOf(laid: Laid, experience: number | null): Promise<Tag> {
  const slug = slugOf(laid.url);
  const name = slug ? `Tag ${slug}` : `Tag of inlay ${laid.uid}`;
  const fits = slug !== null && /^[a-z0-9-]{6,32}$/.test(slug);
  return post("/tags", { name, experience_id: experience, ...(fits && { slug }) });
}
