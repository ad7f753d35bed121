// The experience that a tag opens: its own, or that of the nearest group above it that has one.

import type { Tag } from "../api/types";
import { experiences } from "../stores/names";
import { groups } from "./groups.svelte";

export interface Given {
  experience_id: number | null;
  /** The group that gives it; empty for the tag's own. */
  from: string;
  /** The group that is recalled, so that taps lead to another page; `null` if none is. */
  recalled: string | null;
}

export function experienceOf({ experience_id, group_id }: Pick<Tag, "experience_id" | "group_id">): Given {
  const above = groups.path(group_id).reverse();
  const recalled = above.find(({ status }) => status === "recalled")?.name ?? null;
  if (experience_id !== null) return { experience_id, from: "", recalled };
  const giver = above.find((group) => group.experience_id !== null);
  return { experience_id: giver?.experience_id ?? null, from: giver?.name ?? "", recalled };
}

/** The name of the experience that a group gives to what is created in it; empty if none does. */
export const givenName = (group_id: number | null): string =>
  experiences.name(experienceOf({ experience_id: null, group_id }).experience_id);
