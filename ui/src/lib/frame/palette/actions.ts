// Actions in the palette: those that have keys, and those that have none. What the connection
// may not do is not offered.

import ArrowRight from "@lucide/svelte/icons/arrow-right";
import Zap from "@lucide/svelte/icons/zap";
import type { Scope } from "../../api/types";
import { offersScreen } from "../navigation";
import { rights } from "../rights.svelte";
import { router, type Screen } from "../router.svelte";
import type { Shortcut } from "../shortcuts.svelte";
import { contains, type Entry, type Group } from "./entries";

interface Action {
  name: string;
  needs: Scope;
  screen: Screen;
  selected?: string;
  query?: Record<string, string>;
  /** Whether tokens that are limited to some experiences may not do it. */
  whole?: true;
}

/** What has no keys of its own. */
const others: Action[] = [
  { name: "New tag", needs: "tags", screen: "tags", query: { new: "tag" } },
  { name: "New experience", needs: "experiences", screen: "experiences", query: { new: "experience" }, whole: true },
  { name: "New URL template", needs: "keys", screen: "templates", selected: "new" },
  { name: "New test sheet", needs: "encode", screen: "sheets", query: { new: "sheet" } },
  { name: "New virtual inlay", needs: "tags", screen: "simulator", query: { new: "inlay" } },
  { name: "New webhook", needs: "webhooks", screen: "settings", selected: "webhooks", query: { edit: "new" }, whole: true },
  { name: "New token", needs: "admin", screen: "settings", selected: "tokens", query: { new: "token" } },
  { name: "Bring your inlays from another service", needs: "keys", screen: "move" },
];

const offered = ({ needs, screen, whole }: Action) => rights.may(needs) && offersScreen(screen) && !(whole && rights.limited);

/** The actions whose names have these words, those with keys first. */
export function actionGroup(shortcuts: Shortcut[], words: string): Group {
  const keyed = shortcuts
    .filter(({ does }) => contains(does, words))
    .map(({ keys, does, run }): Entry => ({
      key: `action ${keys}`,
      name: does,
      icon: keys.startsWith("g ") ? ArrowRight : Zap,
      keys,
      run,
    }));
  // Without words there is room for keys alone.
  const others = words === "" ? [] : otherEntries(words).filter(({ name }) => !keyed.some((entry) => entry.name === name));
  return { title: "Actions", entries: [...keyed, ...others] };
}

const otherEntries = (words: string): Entry[] =>
  others
    .filter((action) => contains(action.name, words) && offered(action))
    .map(({ name, screen, selected = null, query = {} }) => ({
      key: `action ${name}`,
      name,
      icon: Zap,
      run: () => router.go(screen, selected, query),
    }));
