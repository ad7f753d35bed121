// The filters of the feed: in the address, and for the service.

import { boundsOf } from "../../lib/ui/filters/dates";

/** The address parameters that filter the feed. */
export const narrowing = ["verification", "reason", "missed", "tamper", "tag", "uid", "group", "experience", "dates"] as const;

/** The query to the service for the parameters of an address, in one world, on the viewer's day `today`. */
export const feedQuery = (query: Partial<Record<string, string>>, simulated: "true" | "false", today: string) => ({
  verification: query.verification,
  reason: query.reason,
  missed_reads: query.missed,
  tamper: query.tamper,
  simulated,
  tag_id: query.tag,
  uid: query.uid,
  experience_id: query.experience,
  group_id: query.group,
  ...boundsOf(query.dates ?? "", today),
});
