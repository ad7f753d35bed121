// The commands of the kiosk's page. It does not contain the module of the owner's
// screens with their commands. In a browser, where the tests take pictures, `?example=`
// shows an example.

import { Channel, invoke, isTauri } from "@tauri-apps/api/core";
import { examples } from "./examples";

/** The settings of the welcome page. */
export interface Attract {
  heading: string;
  text: string;
  /** The owner's name or shop; empty for none. */
  name: string;
  /** The owner's ground, "#rrggbb"; `null` for Tapdesk's own. */
  colour: string | null;
  /** As data URLs. */
  pictures: string[];
  picture_seconds: number;
  /** The address of the QR code. */
  code: string | null;
  sound: boolean;
  light: boolean;
}

export type Notice = "unread" | "blank" | "copied" | "other_host" | "failed" | "broke";

/** The state of the kiosk. */
export interface View {
  visit: { seconds_left: number } | null;
  notice: Notice | null;
  has_reader: boolean;
  /** Rises with each tag on the reader. */
  tags: number;
  /** Rises each time the owner opens the PIN pad during a visit. */
  asked: number;
  /** Why the kiosk does not run, or `null`. */
  problem: Problem | null;
}

/** Why the kiosk does not start. */
export interface Problem {
  title: string;
  text: string;
  /** Whether a button closes the program: without a PIN, nothing else could. */
  can_close: boolean;
}

export type Unlocked = { outcome: "right" } | { outcome: "wrong" } | { outcome: "wait"; seconds: number };

const example = isTauri() ? null : (examples[new URLSearchParams(location.search).get("example") ?? "attract"] ?? null);

/** Whether the page starts with the PIN pad; only in an example. */
export const asking = example?.asking ?? false;

export const attract = (): Promise<Attract> => (example ? Promise.resolve(example.attract) : invoke<Attract>("kiosk_attract"));

/** Subscribes to the state of the kiosk. */
export function onView(heard: (view: View) => void): void {
  if (example) return heard(example.view);
  const channel = new Channel<View>();
  channel.onmessage = heard;
  void invoke("kiosk_watch", { channel });
}

/** Ends the visit. */
export const done = (): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_done"));

/** Ends the program, if the kiosk could not start and has no PIN. */
export const close = (): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_close"));
/** Leaves the kiosk if the PIN is right. */
export const unlock = (pin: string): Promise<Unlocked> =>
  example ? Promise.resolve({ outcome: "wrong" }) : invoke<Unlocked>("kiosk_unlock", { pin });
