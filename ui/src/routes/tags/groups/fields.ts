// The members of a group that its form edits. An empty text of an optional member is none.

import type { Group } from "../../../lib/api/types";

export const fieldsOf = (group: Group) => ({
  name: group.name,
  kind: group.kind,
  code: group.code ?? "",
  gtin: group.gtin ?? "",
  experience_id: group.experience_id,
  title: group.title,
  description: group.description,
  language_code: group.language_code ?? "",
});

export type Fields = ReturnType<typeof fieldsOf>;

export const fieldWords: Record<keyof Fields, string> = {
  name: "Name",
  kind: "Kind",
  code: "Code",
  gtin: "GTIN",
  experience_id: "Experience",
  title: "Title",
  description: "Description",
  language_code: "Language",
};

const optional = ["code", "gtin", "language_code"] as const;

/** The same members as the service takes them. */
export function sentOf(fields: Partial<Fields>): Partial<Group> {
  const sent: Partial<Group> = { ...fields };
  for (const name of optional) if (name in fields) sent[name] = fields[name]?.trim() || null;
  return sent;
}
