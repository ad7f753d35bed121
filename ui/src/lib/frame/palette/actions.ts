// Actions in the palette, with and without keys. Actions that the connection may not do are not
// offered.

import ArrowRight from "@lucide/svelte/icons/arrow-right";
import Zap from "@lucide/svelte/icons/zap";
import type { Scope } from "../../api/types";
import { offersScreen } from "../../window/navigation";
import { rights } from "../../stores/rights.svelte";
import { router, type Screen } from "../../window/router.svelte";
import type { Shortcut } from "../../window/shortcuts.svelte";
import { singleKeys } from "../../window/singleKeys.svelte";
import { isMeant, type Entry, type Group } from "./entries";

export interface Action {
  name: string;
  /** Synonyms that people search for. */
  words?: string;
  needs: Scope;
  screen: Screen;
  selected?: string;
  query?: Record<string, string>;
  /** Whether tokens that are limited to experiences cannot do it. */
  whole?: true;
  /** The action, if it does more than open its screen. */
  run?: () => void;
}

/** Synonyms for actions with keys, by their text. */
const synonyms: Record<string, string> = {
  "Undo the last change": "revert back take mistake history",
  "Show shortcuts": "help keys keyboard",
  "Go to overview": "home start dashboard numbers statistics",
  "Go to tags": "products things bottles list",
  "Go to experiences": "pages destinations redirects campaigns",
  "Go to interactions": "taps scans events feed history",
  "Go to submissions": "forms answers entries registrations contacts",
  "Go to inlays": "chips nfc uid",
  "Go to URL templates": "address format link",
  "Go to encode": "write program chips",
  "Go to reader": "scan chip device",
  "Go to test sheets": "quality check delivery",
  "Go to simulator": "try demo test virtual",
  "Go to settings": "preferences options configuration",
  "Go to kiosk": "display wall screen",
};

/** Actions without keys. */
const others: Action[] = [
  { name: "New tag", needs: "tags", screen: "tags", query: { new: "tag" } },
  { name: "New experience", needs: "experiences", screen: "experiences", query: { new: "experience" }, whole: true },
  { name: "New URL template", needs: "keys", screen: "templates", selected: "new" },
  { name: "Unlisted chips", words: "unknown foreign enrol refused", needs: "read", screen: "unlisted", whole: true },
  { name: "New test sheet", needs: "encode", screen: "sheets", query: { new: "sheet" } },
  { name: "New virtual inlay", needs: "tags", screen: "simulator", query: { new: "inlay" } },
  { name: "New webhook", needs: "webhooks", screen: "settings", selected: "webhooks", query: { edit: "new" }, whole: true },
  {
    name: "New notification",
    words: "alert report mail email chat slack",
    needs: "admin",
    screen: "settings",
    selected: "notifications",
    query: { edit: "new" },
  },
  { name: "New token", needs: "admin", screen: "settings", selected: "tokens", query: { new: "token" } },
  {
    name: "Pair a phone",
    words: "staff mobile smartphone field app",
    needs: "admin",
    screen: "settings",
    selected: "phones",
    query: { new: "phone" },
  },
  { name: "Move in from another service", words: "bring migrate import switch provider", needs: "keys", screen: "move", whole: true },
];

const offered = ({ needs, screen, whole }: Action) => rights.may(needs) && offersScreen(screen) && !(whole && rights.limited);

/**
 * The actions that match these words, those with keys first. `more` are the actions of the screens.
 */
export function actionGroup(shortcuts: Shortcut[], words: string, more: readonly Action[] = []): Group {
  const keyed = shortcuts
    .filter(({ does }) => isMeant(does, synonyms[does] ?? "", words))
    .map(({ keys, does, run }): Entry => ({
      key: `action ${keys}`,
      name: does,
      icon: keys.startsWith("g ") ? ArrowRight : Zap,
      // A single key that is turned off is not shown; the palette still runs its action.
      keys: singleKeys.allows(keys) ? keys : undefined,
      run,
    }));
  // Without words there is only room for actions with keys.
  const rest =
    words === "" ? [] : otherEntries([...others, ...more], words).filter(({ name }) => !keyed.some((entry) => entry.name === name));
  return { title: "Actions", entries: [...keyed, ...rest] };
}

const otherEntries = (actions: readonly Action[], words: string): Entry[] =>
  actions
    .filter((action) => isMeant(action.name, action.words ?? "", words) && offered(action))
    .map(({ name, screen, selected = null, query = {}, run }) => ({
      key: `action ${name}`,
      name,
      icon: Zap,
      run: run ?? (() => router.go(screen, selected, query)),
    }));
