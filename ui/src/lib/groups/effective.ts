// The values that a tag has from its groups.

import { cached } from "../api/cache";
import type { Effective, Tag } from "../api/types";
import { groups } from "./groups.svelte";

/** A value that a tag has from a group, and the group's name. */
export interface Inherited {
  value: string;
  from: string;
}

/** The values that a tag has from its groups; `null` until they are loaded, and for a tag in no group. */
export const effectiveOf = ({ id, group_id }: Pick<Tag, "id" | "group_id">): Effective | null =>
  group_id === null ? null : cached("/tags/{id}/effective", { id }).now;

/** The inherited text of a tag; `null` if the tag has its own, or none. */
export function inheritedText(effective: Effective | null, name: "title" | "description" | "language_code"): Inherited | null {
  const found = effective?.[name];
  return found && found.group_id !== null ? { value: found.value, from: groups.name(found.group_id) } : null;
}

/** The properties of one class that a tag has from its groups, in the order of their keys. */
export function inheritedProperties(effective: Effective | null, of: "attributes" | "data"): (Inherited & { key: string })[] {
  return Object.entries(effective?.[of] ?? {})
    .filter(([, { group_id }]) => group_id !== null)
    .map(([key, { value, group_id }]) => ({ key, value, from: groups.name(group_id) }))
    .sort((a, b) => a.key.localeCompare(b.key));
}
