// A notification in words.

import type { Notification, NotificationFailure } from "../../../lib/api/types";
import { ago, count, moment } from "../../../lib/format/format";
import { present } from "../../../lib/format/now.svelte";
import { alerts } from "../webhooks/alerts";
import type { DeliveryWords } from "../webhooks/delivery";

type Subject = Pick<Notification, "kind" | "events" | "group_id" | "every" | "time_zone">;

/** A name within a sentence: abbreviations stay as they are. */
const within = (name: string) => (/^[A-Z][a-z ]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name);

/** "Alerts: disk low, backup failed" or "Weekly report of Grand Cru, Europe/Berlin". */
export function subjectWords({ kind, events, group_id, every, time_zone }: Subject, group: (id: number) => string): string {
  const of = group_id === null ? "" : ` of ${group(group_id)}`;
  if (kind === "report") return `${every === "day" ? "Daily" : "Weekly"} report${of}, ${time_zone}`;
  const chosen = alerts.filter((alert) => (events as string[]).includes(alert.kind));
  const rhythm = every === null ? "" : `, at most ${every === "day" ? "daily" : "weekly"}`;
  if (chosen.length === alerts.length) return `All alerts${rhythm}`;
  return `Alerts${of}: ${chosen.map(({ name }) => within(name)).join(", ")}${rhythm}`;
}

/** The host of a chat. The rest of its URL is a secret. */
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/** The recipients: "anna@example.com, ben@example.com" or "Chat at hooks.slack.com". */
export const recipientWords = ({ channel }: Pick<Notification, "channel">): string =>
  "mail" in channel ? channel.mail.join(", ") : `Chat at ${hostOf(channel.chat)}`;

/** One recipient of a message: a chat has no name. */
export const recipientOf = (recipient: string | null): string => recipient ?? "The chat";

type Stands = Pick<Notification, "channel" | "enabled" | "disabled" | "waiting" | "last_sent_at" | "failures">;

const failedAt = ({ recipient, at, error }: NotificationFailure) => `${recipientOf(recipient)}, ${moment(at)}: ${error}`;

/** The newest failure, if nothing was sent since. */
export function standingFailure({ failures, last_sent_at }: Pick<Stands, "failures" | "last_sent_at">): NotificationFailure | null {
  const [newest] = failures;
  return newest && (last_sent_at === null || Date.parse(newest.at) > Date.parse(last_sent_at)) ? newest : null;
}

/** The state of a notification's messages; `hasServer` is whether there is a mail server. */
export function stateWords(notification: Stands, hasServer: boolean, now = present()): DeliveryWords {
  const { channel, enabled, disabled, waiting, last_sent_at, failures } = notification;
  const queue = waiting > 0 ? `${count(waiting)} waiting` : "";
  const newest = failures[0] ? `Last failure: ${failedAt(failures[0])}` : "";
  if (!enabled) {
    return { text: disabled === "restored" ? "Switched off after a restore" : "Off", title: newest, tone: "off" };
  }
  if ("mail" in channel && !hasServer) return { text: ["No mail server", queue].filter(Boolean).join(", "), title: newest, tone: "bad" };
  const failure = standingFailure(notification);
  if (failure) return { text: [`Failed ${ago(failure.at, now)}`, queue].filter(Boolean).join(", "), title: failedAt(failure), tone: "bad" };
  if (queue) return { text: queue, title: newest, tone: "soft" };
  if (last_sent_at === null) return { text: "Nothing sent yet", title: "", tone: "soft" };
  const title = [`Sent ${moment(last_sent_at)}`, newest].filter(Boolean).join(". ");
  const sent = `Sent ${ago(last_sent_at, now)}`;
  // A recipient may have been refused while others got the message.
  if (failures.length > 0) return { text: `${sent}, ${count(failures.length)} failed`, title, tone: "soft" };
  return { text: sent, title, tone: "good" };
}
