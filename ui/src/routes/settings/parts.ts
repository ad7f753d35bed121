// The sections of the settings, and their entries in the palette.

import type { Setting } from "../../lib/frame/palette/here";
import { rights } from "../../lib/stores/rights.svelte";
import { fields } from "./serviceSettings";

/** Each section with its heading. */
export const parts = [
  ["service", "Service", "Service"],
  ["visitors", "Visitors", "Service"],
  ["backup", "Backup", "Service"],
  ["webhooks", "Webhooks", "Service"],
  ["notifications", "Notifications", "Service"],
  ["tokens", "Tokens", "Access"],
  ["phones", "Phones", "Access"],
  ["keys", "Master keys", "Access"],
  ["audit", "Audit log", "Access"],
  ["connections", "Connections", "This computer"],
  ["kiosk", "Kiosk", "This computer"],
  ["appearance", "Appearance", "This computer"],
  ["about", "About", "This computer"],
] as const;

export type Part = (typeof parts)[number][0];

/** Whether the connection may use a section: the others are not offered. */
export function offersPart(part: Part): boolean {
  if (part === "keys") return rights.may("read") && !rights.limited;
  if (part === "webhooks") return rights.may("webhooks");
  if (["service", "visitors", "notifications", "tokens", "phones", "audit", "backup"].includes(part)) return rights.may("admin");
  return true;
}

/** The sections, and each setting of the service, for the palette. */
export const settingPlaces: Setting[] = [
  ...parts.map(([part, name]) => ({ name, part, offered: () => offersPart(part) })),
  { name: "Where phones reach you", part: "service", within: "Service", offered: () => offersPart("service") },
  {
    name: "Logo and texts of pages",
    part: "visitors",
    within: "Visitors",
    words: "404 unknown recalled not set up home redirect",
    offered: () => offersPart("visitors"),
  },
  {
    name: "Apps that open tags",
    part: "visitors",
    within: "Visitors",
    words: "ios android universal app links apple-app-site-association assetlinks",
    offered: () => offersPart("visitors"),
  },
  {
    name: "Mail server",
    part: "notifications",
    within: "Notifications",
    words: "smtp email sender",
    offered: () => offersPart("notifications"),
  },
  {
    name: "Alerts and reports by mail or chat",
    part: "notifications",
    within: "Notifications",
    words: "email slack mattermost rocket.chat digest weekly daily",
    offered: () => offersPart("notifications"),
  },
  { name: "New versions", part: "about", within: "About", words: "update upgrade release", offered: () => true },
  { name: "Single-key shortcuts", part: "appearance", within: "Appearance", offered: () => true },
  ...fields.map(({ label }) => ({ name: label, part: "service", within: "Service", offered: () => offersPart("service") })),
];
