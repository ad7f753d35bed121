// The screens in the order of the navigation, in groups. The frame, the shortcuts and the palette
// use this list.

import Activity from "@lucide/svelte/icons/activity";
import Blocks from "@lucide/svelte/icons/blocks";
import CircuitBoard from "@lucide/svelte/icons/circuit-board";
import ClipboardCheck from "@lucide/svelte/icons/clipboard-check";
import Cpu from "@lucide/svelte/icons/cpu";
import Gauge from "@lucide/svelte/icons/gauge";
import Inbox from "@lucide/svelte/icons/inbox";
import Link2 from "@lucide/svelte/icons/link-2";
import MonitorSmartphone from "@lucide/svelte/icons/monitor-smartphone";
import Nfc from "@lucide/svelte/icons/nfc";
import Settings from "@lucide/svelte/icons/settings";
import SmartphoneNfc from "@lucide/svelte/icons/smartphone-nfc";
import Tags from "@lucide/svelte/icons/tags";
import type { Scope } from "../api/types";
import { rights } from "../stores/rights.svelte";
import type { Place, Screen } from "./router.svelte";

export interface Entry {
  screen: Screen;
  name: string;
  icon: typeof Tags;
  /** The part of the screen, if it is not the whole one. */
  selected?: string;
  /** The key that goes there, after `g`. */
  key: string;
  /** Screens that are reached from this one, and belong to it. */
  within?: Screen[];
  /** The scope that the connection's token needs in addition to reading. */
  needs?: Scope;
  /** Whether it shows data that belongs to no experience, which limited tokens cannot see. */
  whole?: true;
}

/** Whether the connection may use a screen. */
export const offers = ({ screen, needs, whole }: Entry): boolean =>
  screen === "settings" || (rights.may("read") && (!needs || rights.may(needs)) && !(whole && rights.limited));

/** The names of screens that are reached from another one. */
const withinNames: Partial<Record<Screen, string>> = { move: "Move in", unlisted: "Unlisted chips" };

export const screenName = (screen: Screen): string =>
  withinNames[screen] ?? navigation.flat().find((entry) => entry.screen === screen && !entry.selected)!.name;

/** Whether the connection may use a screen, or the one that it belongs to. */
export const offersScreen = (screen: Screen): boolean =>
  navigation.flat().some((entry) => (entry.screen === screen || entry.within?.includes(screen)) && offers(entry));

export const navigation: Entry[][] = [
  [{ screen: "overview", name: "Overview", icon: Gauge, key: "o", whole: true }],
  [
    { screen: "tags", name: "Tags", icon: Tags, key: "t", within: ["move"] },
    { screen: "experiences", name: "Experiences", icon: Blocks, key: "e" },
    { screen: "interactions", name: "Interactions", icon: Activity, key: "i" },
    { screen: "submissions", name: "Submissions", icon: Inbox, key: "f" },
  ],
  [
    { screen: "inlays", name: "Inlays", icon: Cpu, key: "c", within: ["unlisted"], whole: true },
    { screen: "templates", name: "URL templates", icon: Link2, key: "u", whole: true },
    { screen: "encode", name: "Encode", icon: CircuitBoard, key: "n", needs: "encode", whole: true },
    { screen: "reader", name: "Reader", icon: SmartphoneNfc, key: "r", whole: true },
    { screen: "sheets", name: "Test sheets", icon: ClipboardCheck, key: "h", whole: true },
    { screen: "simulator", name: "Simulator", icon: Nfc, key: "s", whole: true },
  ],
  [
    { screen: "settings", selected: "kiosk", name: "Kiosk", icon: MonitorSmartphone, key: "k" },
    { screen: "settings", name: "Settings", icon: Settings, key: "," },
  ],
];

/** The navigation entry of a place: of its part of the screen, or of the whole screen. */
export function entryOf({ screen, selected }: Pick<Place, "screen" | "selected">): Entry | undefined {
  const entries = navigation.flat();
  return (
    entries.find((entry) => entry.screen === screen && entry.selected !== undefined && entry.selected === selected) ??
    entries.find((entry) => (entry.screen === screen && entry.selected === undefined) || entry.within?.includes(screen))
  );
}
