// What the kiosk's page asks of its window, and nothing else: the module of the
// owner's screens, with their commands, is not in this page. In a browser, where
// pictures of the page are taken, `?example=` shows one of the examples.

import { Channel, invoke, isTauri } from "@tauri-apps/api/core";
import { examples } from "./examples";

/** What the owner chose for the attract page. */
export interface Attract {
  heading: string;
  text: string;
  /** As data URLs. */
  pictures: string[];
  picture_seconds: number;
  /** The address of the QR code. */
  code: string | null;
  sound: boolean;
  light: boolean;
}

export type Notice = "unread" | "blank" | "elsewhere" | "failed" | "broke";

/** Where the kiosk stands. */
export interface View {
  visit: { seconds_left: number } | null;
  notice: Notice | null;
  has_reader: boolean;
  /** Rises with each tag that was laid down. */
  tags: number;
  /** Rises each time the owner asks for the PIN during a visit. */
  asked: number;
  /** Why there is no kiosk, if there is none. */
  problem: Problem | null;
}

/** What keeps the kiosk from starting. */
export interface Problem {
  title: string;
  text: string;
  /** Whether a button ends the program: there is no PIN that could. */
  can_close: boolean;
}

export type Unlocked = { outcome: "right" } | { outcome: "wrong" } | { outcome: "wait"; seconds: number };

const example = isTauri() ? null : (examples[new URLSearchParams(location.search).get("example") ?? "attract"] ?? null);

/** Whether the page begins with the pad for the PIN: only an example does. */
export const asking = example?.asking ?? false;

export const attract = (): Promise<Attract> => (example ? Promise.resolve(example.attract) : invoke<Attract>("kiosk_attract"));

/** Hears of every change of where the kiosk stands. */
export function onView(heard: (view: View) => void): void {
  if (example) return heard(example.view);
  const channel = new Channel<View>();
  channel.onmessage = heard;
  void invoke("kiosk_watch", { channel });
}

/** The visitor is done. */
export const done = (): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_done"));

/** Ends the program, if the kiosk could not start and has no PIN. */
export const close = (): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_close"));
/** Leaves the kiosk, if this is the PIN. */
export const unlock = (pin: string): Promise<Unlocked> =>
  example ? Promise.resolve({ outcome: "wrong" }) : invoke<Unlocked>("kiosk_unlock", { pin });
