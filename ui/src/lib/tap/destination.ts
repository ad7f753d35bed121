// The page that a tap's visitor got, or the URL that they were redirected to. The service stores
// neither, and generates it again from the version of that tap.

import { get, post } from "../api/client";
import type { Interaction, Previewed, TracedInteraction, VerificationState, Version } from "../api/types";
import type { OwnTap } from "./ownTaps";

/** Stands for the rolling key in a preview. */
const KEY = "ROLLING_KEY";

const verificationOf = (verified: boolean | null): VerificationState =>
  verified === null ? "not_checked" : verified ? "verified" : "not_verified";

/** The content of a version, in the form of a preview. */
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

/** A tap, and the update that its visitor made, if that is known. */
export type AnsweredTap = Interaction & Partial<Pick<TracedInteraction, "update">>;

/** The variables that a visitor changed, with their values on the page that the visitor saw. */
const before = ({ update }: AnsweredTap): Record<string, string> =>
  Object.fromEntries((update?.changes ?? []).flatMap(({ key, old }) => (typeof old === "string" ? [[key, old]] : [])));

/**
 * The response to a tap, from the version of that tap; null if it led to no experience. The tag's
 * properties are the present ones, except for the variables that its visitor changed after the tap.
 */
export async function answerTo(tap: AnsweredTap): Promise<Previewed | null> {
  const { tag_id, experience_id: id, experience_version: version } = tap;
  if (tag_id === null || id === null || version === null) return null;
  const content = await versionOf(id, version);
  if (!content) return null;
  const visit = {
    tag_id,
    variables: before(tap),
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
 * The URL that the visitor was redirected to. For a tap of this window it is the URL that was sent,
 * or contains its key; the service's stand-in for an owner's page gets only a part of it.
 */
export function sentTo(location: string, own: Pick<OwnTap, "rk" | "location"> | null): string {
  const sent = own?.location;
  if (sent && new URL(sent, "http://service").pathname !== "/stand-in") return sent;
  return own?.rk ? location.replaceAll(KEY, encodeURIComponent(own.rk)) : location;
}
