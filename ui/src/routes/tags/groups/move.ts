// Moves tags into a group, or out of all groups.

import { groups } from "../../../lib/groups/groups.svelte";
import type { Words } from "../../../lib/tables/bulk";
import type { TagChange } from "../bulkAct.svelte";

export const moveTo = (group_id: number | null): TagChange => ({ action: "group", group_id });

export const moveWords = (group_id: number | null): Words => ({
  doing: "Moving",
  done: `moved ${group_id === null ? "out of their groups" : `to ${groups.name(group_id)}`}`,
});
