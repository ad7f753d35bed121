import type { Submission } from "../../lib/api/types";

type Field = Submission["fields"][number];

/** What a field sent, in words. */
export function inWords({ kind, value }: Field): string {
  if (kind === "checkbox" || kind === "consent") return value === "true" ? "Yes" : "No";
  return value === "" ? "—" : value;
}

/** What was sent in one line: its texts, without what was left empty. */
export function inShort({ fields }: Submission): string {
  const texts = fields.filter(({ kind, value }) => kind !== "checkbox" && kind !== "consent" && value !== "");
  return (
    texts.map(({ value }) => value.replace(/\s+/g, " ")).join(" · ") ||
    fields.map((field) => `${field.label}: ${inWords(field)}`).join(" · ")
  );
}
