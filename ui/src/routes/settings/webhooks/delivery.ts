// The state of an endpoint's deliveries, in words.

import type { Webhook, WebhookAttempt } from "../../../lib/api/types";
import { ago, count, duration, moment } from "../../../lib/ui/format";

export interface DeliveryWords {
  text: string;
  /** More of it, for a hover. */
  title: string;
  tone: "good" | "bad" | "soft";
}

type Stands = Pick<Webhook, "enabled" | "disabled" | "failing_since" | "waiting">;
type Last = Pick<WebhookAttempt, "at" | "error">;

const reasons = { failing: "failed for five days", gone: "gone (410)", restored: "since a restore" };

/** `last` is the newest attempt; null if there was none, or if it may not be read. */
export function deliveryWords({ enabled, disabled, failing_since, waiting }: Stands, last: Last | null, now = Date.now()): DeliveryWords {
  const queue = waiting > 0 ? `${count(waiting)} waiting` : "";
  const newest = last ? `Last attempt ${ago(last.at, now)}: ${last.error ?? "delivered"}` : "";
  if (!enabled) {
    const why = disabled && reasons[disabled];
    return { text: why ? `Switched off: ${why}` : "Switched off", title: [queue, newest].filter(Boolean).join(". "), tone: "soft" };
  }
  if (failing_since) {
    const length = duration(Math.max(0, now - Date.parse(failing_since)));
    const title = [`Since ${moment(failing_since)}`, newest].filter(Boolean).join(". ");
    return { text: [`Failing for ${length}`, queue].filter(Boolean).join(", "), title, tone: "bad" };
  }
  if (queue) return { text: queue, title: newest, tone: "soft" };
  return last ? { text: "Delivering", title: newest, tone: "good" } : { text: "On", title: "", tone: "good" };
}
