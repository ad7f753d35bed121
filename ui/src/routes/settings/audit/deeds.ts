// A row of the audit log as a sentence: "Changed tag Bottle 41".

import type { AuditRow } from "../../../lib/api/types";
import { counted } from "../../../lib/format/format";

/** The singular and the plural of a thing. */
type Noun = readonly [one: string, many: string];

const nouns: Record<string, Noun> = {
  tags: ["tag", "tags"],
  experiences: ["experience", "experiences"],
  groups: ["group", "groups"],
  inlays: ["inlay", "inlays"],
  "simulator.inlays": ["simulated inlay", "simulated inlays"],
  "master-keys": ["master key", "master keys"],
  "url-templates": ["URL template", "URL templates"],
  "url-templates.meta-keys": ["shared key", "shared keys"],
  sheets: ["test sheet", "test sheets"],
  "sheets.rows": ["test result", "test results"],
  tokens: ["token", "tokens"],
  phones: ["staff phone", "staff phones"],
  webhooks: ["webhook", "webhooks"],
  notifications: ["notification", "notifications"],
  mail: ["mail server", "mail servers"],
  "webhooks.secrets": ["signing secret", "signing secrets"],
  encodings: ["encoding", "encodings"],
  "encoding-runs": ["encoding run", "encoding runs"],
  "factory-orders": ["factory order", "factory orders"],
  submissions: ["submission", "submissions"],
  "experiences.images": ["picture", "pictures"],
  "groups.image": ["picture of a product", "pictures of products"],
  "tags.variables": ["variable", "variables"],
  "tags.attributes": ["attribute", "attributes"],
  "tags.data": ["data property", "data properties"],
  "tags.former-slugs": ["former slug", "former slugs"],
  "tags.traces": ["visitor data", "visitor data"],
  "interactions.visitor": ["visitor data", "visitor data"],
  "interactions.note": ["note of a staff tap", "notes of staff taps"],
  interactions: ["interaction", "interactions"],
  reports: ["report", "reports"],
  audit: ["audit log", "audit log"],
  settings: ["settings", "settings"],
  "settings.logo": ["logo of plain pages", "logos of plain pages"],
  demo: ["demo data", "demo data"],
};

const verbs: Record<string, string> = {
  create: "Created",
  update: "Changed",
  set: "Set",
  delete: "Deleted",
  publish: "Published",
  rollback: "Restored",
  erase: "Erased",
  export: "Exported",
  import: "Imported",
  bulk: "Changed many",
  tap: "Tapped",
  test: "Tested",
  answers: "Continued",
};

/** Actions whose text is not a verb on a thing. */
const wholes: Record<string, readonly [verb: string, ...Noun]> = {
  backup: ["Made", "a backup", "backups"],
  "backup.schedule.set": ["Set", "the backup schedule", "backup schedules"],
  "backup.schedule.delete": ["Ended", "the backup schedule", "backup schedules"],
  "backup.schedule.run": ["Made", "the scheduled backup", "scheduled backups"],
  "encoding-root.create": ["Replaced", "the encoding root", "encoding roots"],
  "sheets.sign-off": ["Signed off", "a test sheet", "test sheets"],
  "sheets.report.pdf": ["Exported", "a test sheet as PDF", "test sheets as PDF"],
  "factory-orders.keys": ["Exported the keys of", "a factory order", "factory orders"],
  "submissions.save": ["Saved", "a submission that was refused", "submissions that were refused"],
  "tag-url.check": ["Checked", "the address that chips carry", "addresses that chips carry"],
  "encoding-runs.skip": ["Skipped", "a tag of an encoding run", "tags of encoding runs"],
  "url-templates.meta-keys": ["Added", "a shared key", "shared keys"],
  "url-templates.unlisted.revert": ["Deleted", "tags that taps created", "tags that taps created"],
  "unlisted-chips.enrol.create": ["Added", "an unlisted chip", "unlisted chips"],
  "webhooks.resend": ["Sent again", "an event of a webhook", "events of webhooks"],
  "interactions.no-tag.traces.delete": ["Erased", "visitor data without a tag", "visitor data without a tag"],
  "keyring.rotate": ["Rotated", "the key that wraps inlay keys", "keys that wrap inlay keys"],
  labels: ["Printed", "labels", "labels"],
  demo: ["Created", "demo data", "demo data"],
  clock: ["Moved", "the clock", "the clock"],
  "simulator.events": ["Triggered", "a sample event", "sample events"],
  "simulator.clock": ["Moved", "the simulated clock", "the simulated clock"],
};

/** The verb and the noun of an action; for an unknown action, its own name. */
function deed(action: string): readonly [verb: string, ...Noun] {
  const whole = wholes[action];
  if (whole) return whole;
  const parts = action.split(".");
  const subject = parts.slice(0, -1).join(".");
  const verb = verbs[parts.at(-1) ?? ""];
  if (verb) {
    const plain = subject.replaceAll(/[.-]/g, " ");
    return [verb, ...(nouns[subject] ?? ([plain, plain] as const))];
  }
  const plain = action.replaceAll(/[.-]/g, " ");
  return ["Called", plain, plain];
}

const member = (value: unknown, name: string): unknown =>
  value !== null && typeof value === "object" ? (value as Record<string, unknown>)[name] : undefined;

/** The name of the changed thing, before or after the change; `null` if the row has no name. */
export function nameOf({ before, after }: Pick<AuditRow, "before" | "after">): string | null {
  const name = member(after, "name") ?? member(before, "name") ?? member(after, "uid") ?? member(before, "uid");
  return typeof name === "string" && name !== "" ? name : null;
}

/** The changed members of one thing, as text. */
export function changedMembers({ action, before, after }: Pick<AuditRow, "action" | "before" | "after">): string[] {
  if (!action.endsWith(".update")) return [];
  const names = [before, after].flatMap((value) =>
    value !== null && typeof value === "object" && !Array.isArray(value) ? Object.keys(value) : [],
  );
  return [...new Set(names)].map((name) => name.replaceAll("_", " "));
}

/** The object of one row, if it is a single thing: "tags/41", also for an export of that tag. */
export const objectOf = ({ object }: Pick<AuditRow, "object">): string | null => /^.*\d(?=\/|$)/.exec(object)?.[0] ?? null;

/** The sentence of one row, without the name of the changed thing. */
export function sentence({ action, object }: Pick<AuditRow, "action" | "object">): string {
  const [verb, one, many] = deed(action);
  const several = /\.(bulk|import|export)$/.test(action) && objectOf({ object }) === null;
  return `${verb} ${several ? many : one}`;
}

/** The sentence of several rows of one action: "Created 48 tags". */
export function sentenceOfMany(rows: readonly Pick<AuditRow, "action" | "object">[]): string {
  const [verb, one, many] = deed(rows[0]!.action);
  const things = new Set(rows.map(({ object }) => object)).size;
  if (things === 1 || one === many) return `${verb} ${one}, ${counted(rows.length, "time")}`;
  return `${verb} ${counted(things, one, many)}`;
}
