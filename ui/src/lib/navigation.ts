// The screens in the order of the navigation, in groups: the frame, the shortcuts and the
// palette go through this one list.

import Activity from "@lucide/svelte/icons/activity";
import Blocks from "@lucide/svelte/icons/blocks";
import CircuitBoard from "@lucide/svelte/icons/circuit-board";
import ClipboardCheck from "@lucide/svelte/icons/clipboard-check";
import Cpu from "@lucide/svelte/icons/cpu";
import Gauge from "@lucide/svelte/icons/gauge";
import Inbox from "@lucide/svelte/icons/inbox";
import Link2 from "@lucide/svelte/icons/link-2";
import Nfc from "@lucide/svelte/icons/nfc";
import Settings from "@lucide/svelte/icons/settings";
import SmartphoneNfc from "@lucide/svelte/icons/smartphone-nfc";
import Tags from "@lucide/svelte/icons/tags";
import type { Scope } from "./api/types";
import { rights } from "./rights.svelte";
import type { Screen } from "./router.svelte";

export interface Entry {
  screen: Screen;
  name: string;
  icon: typeof Tags;
  /** The key that goes there, after `g`. */
  key: string;
  /** Screens that are reached from this one, and belong to it. */
  within?: Screen[];
  /** What the connection's token needs for it, beside reading. */
  needs?: Scope;
  /** Whether it shows what belongs to no experience: tokens that are limited to some do not see it. */
  whole?: true;
}

/** Whether the connection may use a screen. */
export const offers = ({ screen, needs, whole }: Entry): boolean =>
  screen === "settings" || (rights.may("read") && (!needs || rights.may(needs)) && !(whole && rights.limited));

export const navigation: Entry[][] = [
  [{ screen: "overview", name: "Overview", icon: Gauge, key: "o", whole: true }],
  [
    { screen: "tags", name: "Tags", icon: Tags, key: "t" },
    { screen: "experiences", name: "Experiences", icon: Blocks, key: "e" },
    { screen: "interactions", name: "Interactions", icon: Activity, key: "i" },
    { screen: "submissions", name: "Submissions", icon: Inbox, key: "f" },
  ],
  [
    { screen: "inlays", name: "Inlays", icon: Cpu, key: "c", within: ["move"], whole: true },
    { screen: "templates", name: "URL templates", icon: Link2, key: "u", whole: true },
    { screen: "encode", name: "Encode", icon: CircuitBoard, key: "n", needs: "encode", whole: true },
    { screen: "reader", name: "Reader", icon: SmartphoneNfc, key: "r", whole: true },
    { screen: "sheets", name: "Test sheets", icon: ClipboardCheck, key: "h", whole: true },
    { screen: "simulator", name: "Simulator", icon: Nfc, key: "s", whole: true },
  ],
  [{ screen: "settings", name: "Settings", icon: Settings, key: "," }],
];
