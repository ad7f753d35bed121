// What the palette lists: groups of entries, each with an icon and what it does.

import ArrowRight from "@lucide/svelte/icons/arrow-right";
import Blocks from "@lucide/svelte/icons/blocks";
import Cpu from "@lucide/svelte/icons/cpu";
import Link2 from "@lucide/svelte/icons/link-2";
import SlidersHorizontal from "@lucide/svelte/icons/sliders-horizontal";
import Tag from "@lucide/svelte/icons/tag";
import Zap from "@lucide/svelte/icons/zap";
import { get } from "../api/client";
import { chipName } from "../inlays/technologies";
import { uidOf } from "../inlays/uid";
import type { Recent } from "../recent.svelte";
import { router } from "../router.svelte";
import type { Shortcut } from "../shortcuts.svelte";

export interface Entry {
  /** Unique in the palette. */
  key: string;
  name: string;
  icon: typeof Tag;
  /** More about it: the kind of an experience, the section of a setting. */
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

/** A section of the settings, or a setting in one. */
export interface Setting {
  name: string;
  /** The section, as in its address. */
  part: string;
  /** The name of the section, for a setting in it. */
  within?: string;
}

const icons = { tags: Tag, experiences: Blocks, inlays: Cpu, templates: Link2 };
const kinds = { tags: "Tag", experiences: "Experience", inlays: "Inlay", templates: "URL template" };
const contains = (name: string, words: string) => name.toLowerCase().includes(words.toLowerCase());

export const recentGroup = (recent: readonly Recent[]): Group => ({
  title: "Recent",
  entries: recent.map(({ screen, id, name }) => ({
    key: `recent ${screen} ${id}`,
    name,
    icon: icons[screen],
    about: kinds[screen],
    run: () => router.go(screen, id, {}),
  })),
});

export const settingGroup = (settings: Setting[], words: string): Group => ({
  title: "Settings",
  entries: settings
    .filter(({ name, within }) => contains(`${within ?? ""} ${name}`, words))
    .map(({ name, part, within }) => ({
      key: `setting ${part} ${name}`,
      name,
      icon: SlidersHorizontal,
      about: within,
      run: () => router.go("settings", part, {}),
    })),
});

export const actionGroup = (shortcuts: Shortcut[], words: string): Group => ({
  title: "Actions",
  entries: shortcuts
    .filter(({ does }) => contains(does, words))
    .map(({ keys, does, run }) => ({ key: `action ${keys}`, name: does, icon: keys.startsWith("g ") ? ArrowRight : Zap, keys, run })),
});

/** What has no keys of its own. */
const others: [name: string, run: () => void][] = [
  ["New tag", () => router.go("tags", null, { new: "tag" })],
  ["New experience", () => router.go("experiences", null, { new: "experience" })],
  ["New URL template", () => router.go("templates", "new", {})],
  ["New test sheet", () => router.go("sheets", null, { new: "sheet" })],
  ["New virtual inlay", () => router.go("simulator", null, { new: "inlay" })],
  ["New webhook", () => router.go("settings", "webhooks", { edit: "new" })],
  ["New token", () => router.go("settings", "tokens", { new: "token" })],
  ["Bring your inlays from another service", () => router.go("move", null, {})],
];

export const otherGroup = (words: string, named: Group): Group => ({
  title: named.title,
  entries: [
    ...named.entries,
    ...others
      .filter(([name]) => contains(name, words) && !named.entries.some((entry) => entry.name === name))
      .map(([name, run]) => ({ key: `action ${name}`, name, icon: Zap, run })),
  ],
});

/** Asks the service for tags, experiences, inlays and URL templates; a kind that cannot be loaded has none. */
export async function search(q: string): Promise<Group[]> {
  const none = () => ({ items: [] });
  const uid = uidOf(q);
  const [tags, experiences, inlays, templates] = await Promise.all([
    get("/tags", { q, limit: 8 }).catch(none),
    get("/experiences", { q, limit: 5 }).catch(none),
    uid ? get("/inlays", { uid }).catch(none) : none(),
    get("/url-templates", { limit: 200 }).catch(none),
  ]);
  return [
    {
      title: "Tags",
      entries: tags.items.map(({ id, name, slug }) => ({ key: `tag ${id}`, name, icon: Tag, slug, run: () => router.go("tags", id, {}) })),
    },
    {
      title: "Experiences",
      entries: experiences.items.map(({ id, name, kind }) => ({
        key: `experience ${id}`,
        name,
        icon: Blocks,
        about: kind,
        run: () => router.go("experiences", id, {}),
      })),
    },
    {
      title: "Inlays",
      entries: inlays.items.map(({ id, uid, technology }) => ({
        key: `inlay ${id}`,
        name: uid,
        icon: Cpu,
        about: chipName(technology),
        run: () => router.go("inlays", id, {}),
      })),
    },
    {
      title: "URL templates",
      entries: templates.items
        .filter(({ name, template }) => contains(`${name} ${template}`, q))
        .map(({ id, name, technology }) => ({
          key: `template ${id}`,
          name,
          icon: Link2,
          about: chipName(technology),
          run: () => router.go("templates", id, {}),
        })),
    },
  ];
}
