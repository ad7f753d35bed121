// The state of an endpoint's deliveries, in words.

import type { Webhook, WebhookAttempt } from "../../../lib/api/types";
import { ago, count, duration, moment } from "../../../lib/format/format";
import { present } from "../../../lib/format/now.svelte";

export interface DeliveryWords {
  text: string;
  /** More details, for a tooltip. */
  title: string;
  tone: "good" | "bad" | "soft" | "off";
}

type Stands = Pick<Webhook, "enabled" | "disabled" | "failing_since" | "waiting">;
type Last = Pick<WebhookAttempt, "at" | "error">;

const reasons = { failing: "failed for five days", gone: "gone (410)", restored: "since a restore" };

/** `last` is the newest attempt; null if there was none, undefined if it is unknown. */
export function deliveryWords(
  { enabled, disabled, failing_since, waiting }: Stands,
  last: Last | null | undefined,
  now = present(),
): DeliveryWords {
  const queue = waiting > 0 ? `${count(waiting)} waiting` : "";
  const newest = last ? `Last attempt ${ago(last.at, now)}: ${last.error ?? "delivered"}` : "";
  if (!enabled) {
    const why = disabled && reasons[disabled];
    return { text: why ? `Switched off: ${why}` : "Switched off", title: [queue, newest].filter(Boolean).join(". "), tone: "off" };
  }
  if (failing_since) {
    const length = duration(Math.max(0, now - Date.parse(failing_since)));
    const title = [`Since ${moment(failing_since)}`, newest].filter(Boolean).join(". ");
    return { text: [`Failing for ${length}`, queue].filter(Boolean).join(", "), title, tone: "bad" };
  }
  if (queue) return { text: queue, title: newest, tone: "soft" };
  if (last === undefined) return { text: "On", title: "", tone: "soft" };
  if (last === null) return { text: "Nothing sent yet", title: "", tone: "soft" };
  const when = ago(last.at, now);
  return last.error ? { text: `Failed ${when}`, title: newest, tone: "bad" } : { text: `Delivered ${when}`, title: newest, tone: "good" };
}
