// Saves the edits of an experience as a draft, which visitors do not see, with undo.

import type { Experience } from "../../lib/api/types";
import type { Draft } from "../../lib/ui/draft.svelte";
import { counted } from "../../lib/format/format";
import { notices } from "../../lib/window/notices.svelte";
import type { Resource } from "../../lib/ui/resource.svelte";
import { patchOf, storedOf, type Content } from "./content";

interface Edited {
  draft: Draft<Content>;
  resource: Resource<"/experiences/{id}">;
  experience: Experience;
  onchanged: () => Promise<void>;
}

/** Returns whether no edits are left. */
export async function saveDraft({ draft, resource, experience: before, onchanged }: Edited): Promise<boolean> {
  if (!draft.changed) return true;
  let saved = before;
  const done = await draft.save(async (changes) => {
    saved = await resource.save(changes as Partial<Experience>, patchOf(changes));
    return storedOf(saved);
  });
  if (!done) return false;
  const undo = async () => {
    const [former, now] = [storedOf(before), storedOf(saved)];
    const names = (Object.keys(former) as (keyof Content)[]).filter((name) => JSON.stringify(former[name]) !== JSON.stringify(now[name]));
    const changes = Object.fromEntries(names.map((name) => [name, former[name]]));
    await resource.undo(saved, changes as Partial<Experience>, patchOf(changes));
    await onchanged();
  };
  notices.done("Draft saved.", undo, { about: saved.name });
  await onchanged();
  return true;
}

const labels: Record<keyof Content, string> = {
  name: "Name",
  target_url: "Destination URL",
  rules: "Rules",
  blocks: "Blocks",
  theme: "Theme",
};

/** Another person's stored value for a part of an experience, as text. */
export function theirsInWords(name: keyof Content, value: unknown): string {
  if (typeof value === "string") return `${labels[name]}: ${value}`;
  return `${labels[name]}: ${Array.isArray(value) ? counted(value.length, name === "rules" ? "rule" : "block") : "another theme"}`;
}
