// The sections of the settings, and what is found in them.

import type { Setting } from "../../lib/components/palette";
import { fields } from "./serviceSettings";

export const parts = [
  ["service", "Service"],
  ["keys", "Master keys"],
  ["tokens", "Tokens"],
  ["audit", "Audit log"],
  ["webhooks", "Webhooks"],
  ["backup", "Backup"],
  ["connections", "Connections"],
  ["kiosk", "Kiosk"],
  ["appearance", "Appearance"],
  ["about", "About"],
] as const;

/** The sections, and each setting of the service, for the palette. */
export const settingPlaces: Setting[] = [
  ...parts.map(([part, name]) => ({ name, part })),
  ...fields.map(({ label }) => ({ name: label, part: "service", within: "Service" })),
];
