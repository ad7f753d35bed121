// What the visitor of a tap got: the page, or the URL that they were sent to. The service stores
// neither, and makes it again from the version that the tap led to.

import { get, post } from "../api/client";
import type { Interaction, Preview, VerificationState, Version } from "../api/types";
import type { OwnTap } from "./ownTaps";

/** In a preview, in the place of the rolling key. */
const KEY = "ROLLING_KEY";

const verificationOf = (verified: boolean | null): VerificationState =>
  verified === null ? "not_checked" : verified ? "verified" : "not_verified";

/** The content of a version, as a preview takes it. */
const contentOf = (one: Version) =>
  one.kind === "redirect"
    ? { kind: one.kind, target_url: one.target_url, rules: one.rules }
    : { kind: one.kind, blocks: one.blocks, theme: one.theme };

async function versionOf(id: number, version: number): Promise<Version | null> {
  let after: string | undefined;
  do {
    const page = await get("/experiences/{id}/versions", { id, limit: 100, ...(after && { after }) });
    const found = page.items.find((one) => one.version === version);
    if (found) return found;
    after = page.next ?? undefined;
  } while (after);
  return null;
}

/** The answer to a tap, with the tag's properties as they are now; null if the tap led to no experience. */
export async function answerTo(tap: Interaction): Promise<Preview | null> {
  const { tag_id, experience_id: id, experience_version: version } = tap;
  if (tag_id === null || id === null || version === null) return null;
  const content = await versionOf(id, version);
  if (!content) return null;
  const visit = {
    tag_id,
    verification: verificationOf(tap.tag_verified),
    country: tap.country || null,
    language: tap.language,
    operating_system: tap.system,
    tamper: tap.tamper,
    technology: tap.tech,
    visitor_group: tap.visitor_group,
    content: contentOf(content),
  };
  return post("/experiences/{id}/preview", visit, { id });
}

/**
 * The URL that the visitor was sent to. Of a tap of this window it is the URL as it was sent, or has
 * its key; the service's stand-in for an owner's page is sent a part of it alone.
 */
export function sentTo(location: string, own: Pick<OwnTap, "rk" | "location"> | null): string {
  const sent = own?.location;
  if (sent && new URL(sent, "http://service").pathname !== "/stand-in") return sent;
  return own?.rk ? location.replaceAll(KEY, encodeURIComponent(own.rk)) : location;
}
