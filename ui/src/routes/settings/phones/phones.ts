// The phones of staff: their rights and their state in words, and the time left for pairing.

import type { Ready } from "../../../lib/shell/desktop";
import type { AnswerOf, BodyOf } from "../../../lib/api/operations";
import type { Scope } from "../../../lib/api/types";
import { hostOf, isLoopback, isNumeric } from "../../../lib/address/typed";
import { counted, moment } from "../../../lib/format/format";

export type StaffPhone = AnswerOf<"/phones", "get">["items"][number];
export type CreatedPhone = AnswerOf<"/phones", "post">;
export type NewPhone = BodyOf<"/phones", "post">;

/** The scopes that a phone can use, in the words of the work that they allow. */
export const phoneScopes: [Scope, string, string][] = [
  ["read", "See tags", "Values and the last taps"],
  ["encode", "Test", "Mark inlays of a test sheet as good or bad, add notes and photos"],
  ["tags", "Change tags", "Assign to an experience, change variables, add notes and photos"],
  ["keys", "Move inlays", "Assign an inlay to another tag"],
];

/** The time in which a code pairs a phone, in milliseconds: the service's limit. */
export const PAIRING_MS = 10 * 60_000;

/** The remaining time of a code; 0 once it has expired. Times in milliseconds. */
export const pairingLeft = ({ created_at }: Pick<StaffPhone, "created_at">, now: number): number =>
  Math.max(0, new Date(created_at).getTime() + PAIRING_MS - now);

/** The rights of a phone with their limits: "See tags, Test, in 2 groups". */
export function rightsWords({ scopes, group_ids, expires_at }: Pick<StaffPhone, "scopes" | "group_ids" | "expires_at">): string {
  const names = phoneScopes.filter(([scope]) => scopes.includes(scope)).map(([, name]) => name);
  const limits = [group_ids && `in ${counted(group_ids.length, "group")}`, expires_at && `until ${moment(expires_at)}`];
  return [...names, ...limits].filter(Boolean).join(", ");
}

type Lasting = Pick<StaffPhone, "state" | "expires_at">;

const hasExpired = ({ state, expires_at }: Lasting, now: number): boolean =>
  state === "expired" || (expires_at !== null && new Date(expires_at).getTime() <= now);

/** Tag hosts at which a paired phone is not paired, such as one that was added later. */
export const missingHosts = (phone: Lasting & Pick<StaffPhone, "unpaired_hosts">, now: number): string[] =>
  phone.state === "active" && !hasExpired(phone, now) ? phone.unpaired_hosts : [];

/** The state of a phone in words. */
export function stateWords(phone: Lasting & Pick<StaffPhone, "created_at" | "unpaired_hosts">, now: number): string {
  if (hasExpired(phone, now)) return "Expired";
  const missing = missingHosts(phone, now);
  if (missing.length > 0) return `Not paired at ${missing.length === 1 ? missing[0] : counted(missing.length, "host")}`;
  if (phone.state === "active") return "Paired";
  return pairingLeft(phone, now) > 0 ? "Waiting" : "Not paired";
}

/**
 * Whether the tag URL leads phones to this computer, whose listener is closed to them. Another
 * listener, such as that of a reverse proxy, is not known here.
 */
export function isClosed(tagUrl: string, ready: Pick<Ready, "phones" | "listen_fixed"> | null): boolean {
  return ready !== null && !ready.phones && !ready.listen_fixed && isNumeric(hostOf(tagUrl)) && !isLoopback(tagUrl);
}
