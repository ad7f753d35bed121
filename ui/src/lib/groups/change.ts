// Changes of one group, each at once and with undo.

import { remove } from "../api/client";
import type { Group } from "../api/types";
import { Resource } from "../ui/resource.svelte";
import { notices } from "../window/notices.svelte";
import { groups } from "./groups.svelte";
import { pathWords } from "./words";

/** Changes members of a group, and says so. A form gives its own `resource`, so that only what it has shown is overwritten. */
export async function changeGroup(
  id: number,
  changes: Partial<Group>,
  message: string,
  resource = new Resource("/groups/{id}", { id }),
): Promise<Group> {
  const before = resource.now ?? (await resource.load());
  const saved = await resource.save(changes);
  const former = Object.fromEntries(Object.keys(changes).map((name) => [name, before[name as keyof Group]]));
  notices.done(message, async () => void (await resource.undo(saved, former)), { about: saved.name });
  return saved;
}

/** Moves a group with everything in it. */
export const moveGroup = (group: Group, parent_id: number | null): Promise<Group> =>
  changeGroup(group.id, { parent_id }, parent_id === null ? "Moved to the top." : `Moved to ${pathWords(groups.path(parent_id))}.`);

/** Deletes an empty group. The service refuses any other one, and says how much is in it. */
export async function deleteGroup(group: Group): Promise<void> {
  await remove("/groups/{id}", { id: group.id });
  notices.done("Deleted.", undefined, { about: group.name });
}
