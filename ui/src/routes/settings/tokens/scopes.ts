// The scopes of tokens, in words.

import type { Scope } from "../../../lib/api/types";

export const scopes: [Scope, string, string][] = [
  ["read", "Read", "View tags, experiences, taps and settings"],
  ["tags", "Tags", "Change and import tags, use the simulator"],
  ["experiences", "Experiences", "Change drafts"],
  ["publish", "Publish", "Make a draft live"],
  ["encode", "Encode", "Write chips, keep test sheets"],
  ["keys", "Keys", "Change inlays, master keys and URL templates"],
  ["webhooks", "Webhooks", "Change webhooks"],
  ["export", "Export", "Download tags, taps and submissions"],
  ["admin", "Everything", "Also tokens, backup, settings and the audit log"],
];

/** The names of some scopes: "Read, Tags". */
export const scopeNames = (held: readonly Scope[]): string =>
  scopes
    .filter(([scope]) => held.includes(scope))
    .map(([, name]) => name)
    .join(", ");

/** The end of a day in this time zone, in the service's form. */
export const endOf = (day: string): string | null => (day ? new Date(`${day}T23:59:59`).toISOString() : null);
