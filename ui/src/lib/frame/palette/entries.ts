// The palette's list: groups of entries, each with an icon and an action.

import Activity from "@lucide/svelte/icons/activity";
import Blocks from "@lucide/svelte/icons/blocks";
import CircuitBoard from "@lucide/svelte/icons/circuit-board";
import ClipboardCheck from "@lucide/svelte/icons/clipboard-check";
import Cpu from "@lucide/svelte/icons/cpu";
import Factory from "@lucide/svelte/icons/factory";
import Inbox from "@lucide/svelte/icons/inbox";
import Link2 from "@lucide/svelte/icons/link-2";
import Package from "@lucide/svelte/icons/package";
import Tag from "@lucide/svelte/icons/tag";

export interface Entry {
  /** Unique in the palette. */
  key: string;
  name: string;
  icon: typeof Tag;
  /** Additional information: its kind, or the section of a setting. */
  about?: string | undefined;
  /** The slug of a tag. */
  slug?: string;
  /** The keys that do the same. */
  keys?: string;
  run: () => void;
}

export interface Group {
  title: string;
  entries: Entry[];
}

/** The kinds of results, each with its look in the palette. */
export const kinds = {
  tags: { name: "Tag", icon: Tag },
  groups: { name: "Group", icon: Package },
  experiences: { name: "Experience", icon: Blocks },
  inlays: { name: "Inlay", icon: Cpu },
  templates: { name: "URL template", icon: Link2 },
  interactions: { name: "Interaction", icon: Activity },
  submissions: { name: "Submission", icon: Inbox },
  runs: { name: "Encoding run", icon: CircuitBoard },
  orders: { name: "Factory order", icon: Factory },
  sheets: { name: "Test sheet", icon: ClipboardCheck },
};

/**
 * Whether a name contains these words, or each of them begins a word of the name or of `others`,
 * its synonyms.
 */
export function isMeant(name: string, others: string, words: string): boolean {
  if (contains(name, words)) return true;
  const known = `${name} ${others}`.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const asked = words.toLowerCase().split(/\s+/).filter(Boolean);
  return asked.every((word) => known.some((one) => one.startsWith(word)));
}

/** Whether a name has these words in it. */
export const contains = (name: string, words: string) => name.toLowerCase().includes(words.toLowerCase());
