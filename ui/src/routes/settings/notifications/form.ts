// An owner's choices for a notification, as a form and in the admin API.

import type { BodyOf } from "../../../lib/api/operations";
import type { Notification, NotificationKind } from "../../../lib/api/types";
import { alerts, type AlertKind } from "../webhooks/alerts";

/** The members have the service's names, so that its errors match. */
export interface NotificationForm {
  kind: NotificationKind;
  events: AlertKind[];
  /** The only group, with all below it; null for all tags. */
  group_id: number | null;
  /** The time between two messages. Reports have no "hour". */
  every: NonNullable<Notification["every"]> | "hour";
  time_zone: string;
  /** The way to the recipients. */
  by: "mail" | "chat";
  /** Mail addresses, as they are typed. */
  mail: string;
  /** The URL of a chat. */
  chat: string;
}

/** A new notification of this computer's time zone. */
export const blank = (time_zone: string): NotificationForm => ({
  kind: "alert",
  events: alerts.map(({ kind }) => kind),
  group_id: null,
  every: "hour",
  time_zone,
  by: "mail",
  mail: "",
  chat: "",
});

export function formOf({ kind, events, group_id, every, time_zone, channel }: Notification): NotificationForm {
  const mail = "mail" in channel ? channel.mail : null;
  return {
    kind,
    events: events as AlertKind[],
    group_id,
    every: every ?? "hour",
    time_zone,
    by: mail ? "mail" : "chat",
    mail: mail?.join("\n") ?? "",
    chat: "chat" in channel ? channel.chat : "",
  };
}

/** The usual time between two messages of a kind. */
export const usualEvery = (kind: NotificationKind): NotificationForm["every"] => (kind === "alert" ? "hour" : "week");

/** The addresses in a text: one per line, or with commas between them. */
export const addressesOf = (text: string): string[] =>
  text
    .split(/[\n,;]/)
    .map((one) => one.trim())
    .filter(Boolean);

/** Whether a notification can be about the tags of one group: all of its alerts are about a tag, or it is a report. */
export const allowsGroup = ({ kind, events }: Pick<NotificationForm, "kind" | "events">): boolean =>
  kind === "report" || (events.length > 0 && events.every((event) => alerts.some((one) => one.kind === event && one.ofTag)));

/** Whether everything that the service needs is entered. */
export const isComplete = ({ kind, events, by, mail, chat }: NotificationForm): boolean =>
  (kind === "report" || events.length > 0) && (by === "mail" ? addressesOf(mail).length > 0 : chat.trim() !== "");

/** The body that creates a notification. */
export function bodyOf(form: NotificationForm): BodyOf<"/notifications", "post"> {
  const { kind, events, group_id, every, time_zone, by, mail, chat } = form;
  return {
    kind,
    events: kind === "alert" ? events : [],
    group_id: allowsGroup(form) ? group_id : null,
    every: every === "hour" ? null : every,
    time_zone,
    channel: by === "mail" ? { mail: addressesOf(mail) } : { chat: chat.trim() },
  };
}

/** The merge patch that makes `form` of the stored `base`: only members that differ. The kind cannot change. */
export function patchOf(form: NotificationForm, base: NotificationForm): BodyOf<"/notifications/{id}", "patch"> {
  const { kind: _, ...before } = bodyOf(base);
  const { kind: __, ...after } = bodyOf(form);
  const differs = (name: keyof typeof after) => sorted(after[name]) !== sorted(before[name]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => differs(name as keyof typeof after)));
}

/** A value as text. The order of alerts has no meaning. */
const sorted = (value: unknown) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);

/** The error of the addresses, with the one that it is about. `places` are errors by the service's names. */
export function mailError(places: Record<string, string>, sent: readonly string[]): string | undefined {
  const errors = Object.entries(places).filter(([field]) => field.startsWith("channel.mail"));
  const named = errors.map(([field, message]) => {
    const address = sent[Number(/\[(\d+)\]/.exec(field)?.[1] ?? -1)];
    return address ? `${address}: ${message}` : message;
  });
  return named.length > 0 ? named.join(" ") : undefined;
}
