import type { Submission } from "../api/types";

type Field = Submission["fields"][number];

/** The value of a field, as text. */
export function inWords({ kind, value }: Field): string {
  if (kind === "checkbox" || kind === "consent") return value === "true" ? "Yes" : "No";
  return value === "" ? "—" : value;
}

/** The values in one line, without empty ones. */
export function inShort({ fields }: Submission): string {
  const texts = fields.filter(({ kind, value }) => kind !== "checkbox" && kind !== "consent" && value !== "");
  return (
    texts.map(({ value }) => value.replace(/\s+/g, " ")).join(" · ") ||
    fields.map((field) => `${field.label}: ${inWords(field)}`).join(" · ")
  );
}
