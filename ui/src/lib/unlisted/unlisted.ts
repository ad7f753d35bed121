// Chips that are not listed: their code is authentic by the keys of a URL template, but their UID
// is no inlay.

import type { UnlistedMode, UrlTemplate } from "../api/types";
import { technologies } from "../inlays/technologies.svelte";
import { has } from "../inlays/urlTemplate";
import { sinceOf } from "./periods";

interface Mode {
  value: UnlistedMode;
  name: string;
  about: string;
}

/** The ways to treat the tap of such a chip. */
export const modes: Mode[] = [
  { value: "refuse", name: "Refuse", about: "The visitor gets “not found”. Tapdesk lists the chip, so that you can add it to a tag." },
  { value: "page", name: "Show a page", about: "The visitor sees “not set up yet”, and the tap is recorded. Tapdesk lists the chip, too." },
  { value: "create", name: "Create a tag", about: "Its first verified tap creates the inlay and a tag with the UID as its name." },
];

export const modeName = (mode: UnlistedMode): string => modes.find(({ value }) => value === mode)?.name ?? mode;

/** The settings of a template in a form. */
export const unlistedFields = ({ unlisted, experience_id, group_id, create_limit }: UrlTemplate) => ({
  unlisted,
  experience_id,
  group_id,
  create_limit,
});

/** Why chips of a template always have to be listed; `null` if they do not. */
export function mustBeListed({ template, technology }: Pick<UrlTemplate, "template" | "technology">): string | null {
  if (has(template, "slug")) return "The URLs name a slug, so each chip belongs to a tag that has to exist.";
  if (!technologies.find(technology)?.aes_keys || !has(template, "mac"))
    return "These chips have no AES code that could prove an unknown chip.";
  return null;
}

/** Whether a template has a key that verifies chips without an inlay. */
export const knowsStrangers = ({ master_key_ids, shared_file_key_check }: UrlTemplate): boolean =>
  master_key_ids.length > 0 || shared_file_key_check !== null;

/** Whether a tap found the limit of its day reached, on the same day (UTC) as `now` in milliseconds. */
export const isAtLimit = ({ unlisted, limited_at }: UrlTemplate, now: number): boolean =>
  unlisted === "create" && limited_at !== null && sinceOf("today", Date.parse(limited_at)) === sinceOf("today", now);
