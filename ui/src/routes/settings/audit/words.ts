// Texts for the audit log.

import type { AuditRow } from "../../../lib/api/types";

const kinds: Record<string, string> = {
  token: "Token",
  phone: "Phone",
  desktop: "Desktop",
  encoder: "Encoder",
  command_line: "Command line",
  installation: "Another program",
};

/** Authors that have a name of their own. */
const isNamed = (kind: string): boolean => kind === "token" || kind === "phone";

/** The name of a change's author. */
export const actorName = ({ kind, name, id }: AuditRow["actor"]): string =>
  isNamed(kind) ? (name ?? `${kinds[kind]} ${id}`) : (kinds[kind] ?? kind);

/** The choices of the filter by author. Stored tokens and phones are found by their own name. */
export const actors = Object.entries(kinds).filter(([kind]) => !isNamed(kind));

/** "tags.variables.set" as "Tags: variables set". */
export function actionName(action: string): string {
  const [first = "", ...rest] = action.replaceAll("-", " ").split(".");
  const subject = first.charAt(0).toUpperCase() + first.slice(1);
  return rest.length > 0 ? `${subject}: ${rest.join(" ")}` : subject;
}

/** The choices of the filter by action: prefixes of actions. */
export const subjects = [
  "tags",
  "groups",
  "experiences",
  "inlays",
  "master-keys",
  "url-templates",
  "sheets",
  "encodings",
  "encoding-runs",
  "factory-orders",
  "submissions",
  "webhooks",
  "notifications",
  "mail",
  "tokens",
  "phones",
  "settings",
  "backup",
  "simulator",
  "demo",
];
