// The sections of the settings, and what is found in them.

import type { Setting } from "../../lib/components/palette";
import { fields } from "./serviceSettings";

/** Each with the heading that it stands under. */
export const parts = [
  ["service", "Service", "Service"],
  ["backup", "Backup", "Service"],
  ["webhooks", "Webhooks", "Service"],
  ["tokens", "Tokens", "Access"],
  ["keys", "Master keys", "Access"],
  ["audit", "Audit log", "Access"],
  ["connections", "Connections", "This computer"],
  ["kiosk", "Kiosk", "This computer"],
  ["appearance", "Appearance", "This computer"],
  ["about", "About", "This computer"],
] as const;

/** The sections, and each setting of the service, for the palette. */
export const settingPlaces: Setting[] = [
  ...parts.map(([part, name]) => ({ name, part })),
  ...fields.map(({ label }) => ({ name: label, part: "service", within: "Service" })),
];
