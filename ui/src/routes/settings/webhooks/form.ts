// An owner's choices for a webhook, as a form and in the admin API.

import type { BodyOf } from "../../../lib/api/operations";
import type { EventKind, Include, Webhook } from "../../../lib/api/types";
import { alerts } from "./alerts";

/** The events in the form: a choice may stand for several. */
export const choices: { key: string; name: string; about: string; events: EventKind[] }[] = [
  { key: "verified", name: "Verified taps", about: "The tag is genuine", events: ["tap.verified"] },
  { key: "not_verified", name: "Taps not verified", about: "A copied, old or wrong code", events: ["tap.not_verified"] },
  { key: "not_checked", name: "Taps not checked", about: "Tags without a code, such as QR codes", events: ["tap.not_checked"] },
  { key: "updated", name: "Updates", about: "A visit changed a tag's variables", events: ["tag.updated"] },
  { key: "tampered", name: "Broken seals", about: "An inlay reports an opened tamper loop", events: ["tag.tampered"] },
  { key: "submission", name: "Submissions", about: "A visitor sent a form", events: ["submission.created"] },
  { key: "encoded", name: "Encoded inlays", about: "An inlay was encoded and verified", events: ["inlay.encoded"] },
  {
    key: "alerts",
    name: "Alerts",
    about: "The service needs attention: a full disk, a failed backup, guessed codes",
    events: alerts.map(({ kind }) => kind),
  },
];

export const includes: { what: Include; name: string; about: string }[] = [
  { what: "uid", name: "UID", about: "of the inlay" },
  { what: "variables", name: "Variables", about: "of the tag, values of updates, and fields of submissions" },
  { what: "attributes", name: "Attributes", about: "of the tag" },
  { what: "file_data", name: "File data", about: "that the inlay encrypted in its URL" },
];

/** The worlds whose events are sent. */
export type World = "live" | "simulated" | "all";

/** The members have the service's names, so that its errors match. */
export interface WebhookForm {
  url: string;
  /** Keys of `choices`. */
  events: string[];
  /** The id of the only experience; empty for all. */
  experience_id: string;
  /** The only group, with all below it; null for all. */
  group_id: number | null;
  world: World;
  attribute: { key: string; value: string }[];
  include: Include[];
}

export const blank = (): WebhookForm => ({
  url: "",
  events: ["verified", "not_verified", "not_checked"],
  experience_id: "",
  group_id: null,
  world: "live",
  attribute: [],
  include: [],
});

/** The form of a webhook. A choice counts as made if any of its events is selected. */
export const formOf = ({ url, events, filter, include }: Webhook): WebhookForm => ({
  url,
  events: choices.filter((one) => one.events.some((event) => events.includes(event))).map(({ key }) => key),
  // Inactive filters are absent.
  experience_id: String(filter.experience_id ?? ""),
  group_id: filter.group_id ?? null,
  world: filter.world,
  attribute: Object.entries(filter.attribute ?? {}).map(([key, value]) => ({ key, value })),
  include: [...include],
});

/**
 * The events of the form. If a choice was made before, it stands only for the events that the
 * webhook had.
 */
function eventsOf(form: WebhookForm, before: readonly EventKind[]): EventKind[] {
  return choices
    .filter(({ key }) => form.events.includes(key))
    .flatMap(({ events }) => {
      const had = events.filter((event) => before.includes(event));
      return had.length > 0 ? had : events;
    });
}

/** The body that creates a webhook, or with `webhook`, the merge patch that changes it. */
export function bodyOf(form: WebhookForm, webhook: Webhook | null = null): BodyOf<"/webhooks", "post"> & BodyOf<"/webhooks/{id}", "patch"> {
  const attribute = Object.fromEntries(form.attribute.filter(({ key }) => key.trim() !== "").map(({ key, value }) => [key.trim(), value]));
  // In a merge patch, missing members stay unchanged.
  const gone = Object.keys(webhook?.filter.attribute ?? {}).filter((key) => !(key in attribute));
  const removed = Object.fromEntries(gone.map((key) => [key, null])) as Record<string, never>;
  return {
    url: form.url.trim(),
    events: eventsOf(form, webhook?.events ?? []),
    filter: {
      experience_id: form.experience_id === "" ? null : Number(form.experience_id),
      group_id: form.group_id,
      world: form.world,
      attribute: { ...removed, ...attribute },
    },
    include: form.include,
  };
}

/** A line about the filter of a webhook's events; empty if it gets all. */
export function filterInWords({ filter, include }: Webhook, experience: (id: number) => string, group: (id: number) => string): string {
  const parts = [
    filter.experience_id ? `only ${experience(filter.experience_id)}` : "",
    filter.group_id ? `only ${group(filter.group_id)}` : "",
    ...Object.entries(filter.attribute ?? {}).map(([key, value]) => `only ${key} = ${value}`),
    { live: "", simulated: "only simulated", all: "simulated, too" }[filter.world as World],
    include.length === 0
      ? ""
      : `with ${includes
          .filter(({ what }) => include.includes(what))
          .map(({ name }) => name)
          .join(", ")}`,
  ];
  return parts.filter(Boolean).join("; ");
}
