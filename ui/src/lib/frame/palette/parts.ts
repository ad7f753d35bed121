// Finds tags by serial numbers and other attributes that are typed without their separators, and
// inlays by a part of their UID. The service finds attributes only as they are written, so the newest
// tags are loaded and searched here.

import { get } from "../../api/client";
import type { Inlay, Tag } from "../../api/types";
import { demoWorld } from "../../window/demoWorld.svelte";
import { offersScreen } from "../../window/navigation";

/** Most tags that are searched: as many as a large import creates, with some seconds of loading. */
const MOST = 10_000;
/** Rows of a page. */
const PAGE = 500;
/** Most inlays that are listed. */
const FEW = 8;

interface Page<T> {
  items: T[];
  next?: string | null;
}

async function newest<T>(page: (after: string) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let after: string | null = ""; after !== null && found.length < MOST;) {
    const { items, next }: Page<T> = await page(after);
    found.push(...items);
    after = next ?? null;
  }
  return found;
}

const newestTags = (): Promise<Tag[]> =>
  offersScreen("tags")
    ? newest<Tag>((after) => get("/tags", { limit: PAGE, after, simulated: demoWorld.simulated })).catch(() => [])
    : Promise.resolve([]);

/** A part of a UID: hex digits, at most all of them. */
const uidPart = /^[0-9a-f]{4,14}$/;

/** The first inlays whose UID contains this part. */
async function inlaysWith(part: string): Promise<Inlay[]> {
  if (!uidPart.test(part) || !offersScreen("inlays")) return [];
  const found = await get("/inlays", { uid_part: part, limit: FEW, simulated: demoWorld.on }).catch(() => null);
  return found?.items ?? [];
}

/**
 * Only the letters and digits of a text, because serial numbers and UIDs are written with and
 * without separators.
 */
const bare = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();

/** Whether words can be a part of a serial number or a UID: short ones and names match too much. */
export const isPart = (words: string): boolean => bare(words).length >= 4 && /\d/.test(words);

/** The attribute of a tag that contains these words, as a result shows it. */
export function attributeWith(tag: Pick<Tag, "attributes">, words: string): string | undefined {
  if (!isPart(words)) return undefined;
  const found = Object.entries(tag.attributes ?? {}).find(([, value]) => bare(value).includes(bare(words)));
  return found && `${found[0]}: ${found[1]}`;
}

export interface Parts {
  tags: { tag: Tag; attribute: string }[];
  inlays: Inlay[];
}

/**
 * A search for one opening of the palette: the searched tags are loaded once, when they are first
 * needed.
 */
export function partSearch(): (words: string) => Promise<Parts> {
  let fetched: Promise<Tag[]> | null = null;
  return async (words) => {
    if (!isPart(words)) return { tags: [], inlays: [] };
    const [tags, inlays] = await Promise.all([(fetched ??= newestTags()), inlaysWith(bare(words))]);
    return {
      tags: tags.flatMap((tag) => {
        const attribute = attributeWith(tag, words);
        return attribute === undefined ? [] : [{ tag, attribute }];
      }),
      inlays,
    };
  };
}
