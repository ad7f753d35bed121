// The fields of the service's settings, and the conversion of their texts.

import type { Settings } from "../../lib/api/types";
import { count } from "../../lib/format/format";
import { wholeNumber } from "../../lib/ui/numbers";

export interface SettingField {
  name: Exclude<keyof Settings, "app_links" | "pages">;
  label: string;
  hint: string;
  /** The card of the setting. */
  group: "Tags" | "Stored data" | "Network";
  kind: "text" | "number" | "limit" | "list" | "target";
  /** The smallest and the largest number. */
  bounds?: [number, number];
  unit?: string;
}

export const fields: SettingField[] = [
  {
    name: "retention_months",
    label: "Retention",
    group: "Stored data",
    hint: "How long interactions are kept, 1 to 1,200 months.",
    kind: "number",
    bounds: [1, 1200],
    unit: "months",
  },
  {
    name: "submission_months",
    label: "Submissions",
    group: "Stored data",
    hint: "How long submissions are kept, 1 to 1,200 months.",
    kind: "number",
    bounds: [1, 1200],
    unit: "months",
  },
  {
    name: "audit_months",
    label: "Audit log",
    group: "Stored data",
    hint: "How long the audit log is kept, 1 to 1,200 months.",
    kind: "number",
    bounds: [1, 1200],
    unit: "months",
  },
  {
    name: "disk_low_mebibytes",
    label: "Low disk alert",
    group: "Stored data",
    hint: "Alerts you when the disk of the database has less free space than this. 0 turns the alert off.",
    kind: "number",
    bounds: [0, 16_777_216],
    unit: "MiB",
  },
  {
    name: "default_country",
    label: "Default country",
    group: "Network",
    hint: "Two-letter code used if a visitor's country is unknown. May be empty.",
    kind: "text",
  },
  { name: "app_id", label: "app_id", group: "Tags", hint: "Included in every payload.", kind: "number" },
  {
    name: "rate_limit",
    label: "Rate limit",
    group: "Network",
    hint: "Invalid calls per client and minute before the client gets 429: a number, or off. Valid calls are never limited.",
    kind: "limit",
    bounds: [1, 0xffff_ffff],
    unit: "calls a minute",
  },
  {
    name: "simulated_targets",
    label: "Destination of simulated taps",
    group: "Tags",
    hint: "The page that the simulator opens after a tap.",
    kind: "target",
  },
  {
    name: "trusted_proxies",
    label: "Trusted proxies",
    group: "Network",
    hint: "Address blocks whose forwarding headers are trusted, separated by commas.",
    kind: "list",
  },
  {
    name: "country_header",
    label: "Country header",
    group: "Network",
    hint: "The header in which a trusted proxy names the visitor's country.",
    kind: "text",
  },
  {
    name: "hosts",
    label: "Host names",
    group: "Network",
    hint: "More host names that the admin API answers, separated by commas.",
    kind: "list",
  },
];

export const groups = ["Tags", "Stored data", "Network"] as const;

const text = (value: unknown) => (Array.isArray(value) ? value.join(", ") : value === null || value === undefined ? "" : String(value));

/** The settings as texts for the form. */
export const textsOf = (settings: Settings): Record<string, string> =>
  Object.fromEntries(fields.map(({ name }) => [name, text(settings[name].value)]));

/** The value of a text; throws a message for people if the text is invalid. */
export function valueOf({ kind, bounds, label }: SettingField, text: string): unknown {
  if (kind === "limit" && text.trim() === "off") return "off";
  if (kind === "number" || kind === "limit") {
    const number = wholeNumber(text, ...(bounds ?? []));
    if (number !== null) return number;
    if (kind === "limit") throw new Error(`${label}: enter a whole number of at least 1, or off.`);
    throw new Error(
      bounds
        ? `${label}: enter a whole number from ${count(bounds[0])} to ${count(bounds[1])}, without a unit.`
        : `${label}: enter a whole number.`,
    );
  }
  if (kind === "list")
    return text
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean);
  return text === "" ? null : text;
}

/** The values of valid texts, and the errors of invalid ones, by name. */
export function valuesOf(texts: Record<string, string>) {
  const values: Record<string, unknown> = {};
  const wrong: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name];
    if (text === undefined) continue;
    try {
      values[field.name] = valueOf(field, text);
    } catch (error) {
      wrong[field.name] = (error as Error).message;
    }
  }
  return { values, wrong };
}
