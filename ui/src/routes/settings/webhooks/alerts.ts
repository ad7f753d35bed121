// The types of alerts, in the owner's words.

import type { EventKind } from "../../../lib/api/types";

export type AlertKind = EventKind & `alert.${string}`;

export interface Alert {
  kind: AlertKind;
  name: string;
  about: string;
  /** Whether it is about a tag, which may be in a group. */
  ofTag?: true;
}

export const alerts: Alert[] = [
  { kind: "alert.disk_low", name: "Disk low", about: "The database has little free space left" },
  { kind: "alert.writer_failed", name: "Database failed", about: "The database did not accept writes" },
  { kind: "alert.backup_failed", name: "Backup failed", about: "A scheduled backup failed" },
  { kind: "alert.certificate_failed", name: "Certificate failed", about: "A certificate cannot be obtained or renewed" },
  { kind: "alert.root_not_backed_up", name: "Root not backed up", about: "No backup contains the encoding root" },
  { kind: "alert.webhook_disabled", name: "Webhook off", about: "Its endpoint failed for five days, or is gone" },
  { kind: "alert.inlay_guessed", name: "Guessed codes", about: "Too many invalid codes arrived for an inlay", ofTag: true },
  { kind: "alert.copied_url", name: "Copied URL", about: "A one-time URL is opened repeatedly", ofTag: true },
  { kind: "alert.unlisted_limit", name: "Daily limit of tags", about: "Taps of unlisted chips created as many tags as allowed" },
];
