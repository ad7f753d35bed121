// The first real tap at a URL template's address.

import { get } from "../../lib/api/client";
import type { Interaction, UrlTemplate } from "../../lib/api/types";

/** Most taps of that moment that are checked: many inlays can be tapped within one second. */
const AT_ONCE = 50;

/**
 * The time of a template's first tap, and its record. If its code was refused, the first verified
 * tap since then, as soon as there is one. No record if its inlay is gone, or has another template
 * now.
 */
export interface FirstTap {
  at: string;
  tap: Interaction | null;
}

/** Loads it from the service, which stores the time; `null` if there was no tap yet. */
export async function firstTap(id: number): Promise<FirstTap | null> {
  const { first_tap_at: at }: UrlTemplate = await get("/url-templates/{id}", { id });
  if (!at) return null;
  const until = new Date(Date.parse(at) + 1).toISOString();
  const tap = await ofTemplate(id, await get("/interactions", { since: at, until, limit: AT_ONCE }));
  if (tap?.tag_verified !== false) return { at, tap };
  const verified = await ofTemplate(id, await get("/interactions", { since: at, verification: "verified", limit: AT_ONCE }));
  return verified ? { at: verified.at, tap: verified } : { at, tap };
}

/** The first of these taps by an inlay of the template; the page has the newest first. */
async function ofTemplate(id: number, { items }: { items: Interaction[] }): Promise<Interaction | null> {
  for (const tap of [...items].reverse()) if (tap.inlay_id !== null && (await templateOf(tap.inlay_id)) === id) return tap;
  return null;
}

/** The template of an inlay; `null` if it is gone. */
const templateOf = (id: number) =>
  get("/inlays/{id}", { id }).then(
    (inlay) => inlay.url_template_id,
    () => null,
  );
