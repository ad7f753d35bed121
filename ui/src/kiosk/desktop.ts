// The commands of the kiosk's page. It does not contain the module of the owner's
// screens with their commands. In a browser, where the tests take pictures, `?example=`
// shows an example.

import { Channel, invoke, isTauri } from "@tauri-apps/api/core";
import { examples } from "./examples";
import type { Attract, Unlocked, View } from "./types";

export type * from "./types";

const example = isTauri() ? null : (examples[new URLSearchParams(location.search).get("example") ?? "attract"] ?? null);

/** Whether the page starts with the PIN pad; only in an example. */
export const asking = example?.asking ?? false;
/** The moment that the page starts with; only in an example. */
export const moment = example?.moment ?? { goodbye: false, left: false };

export const attract = (): Promise<Attract> => (example ? Promise.resolve(example.attract) : invoke<Attract>("kiosk_attract"));

/** Subscribes to the state of the kiosk. */
export function onView(heard: (view: View) => void): void {
  if (example) return heard(example.view);
  const channel = new Channel<View>();
  channel.onmessage = heard;
  void invoke("kiosk_watch", { channel });
}

/** Ends the visit of this number, and no other one. */
export const done = (visit: number): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_done", { visit }));

/** Ends the program, if the kiosk could not start and has no PIN. */
export const close = (): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_close"));
/** Leaves the kiosk if the PIN is right. */
export const unlock = (pin: string): Promise<Unlocked> =>
  example ? Promise.resolve({ outcome: "wrong" }) : invoke<Unlocked>("kiosk_unlock", { pin });

/** Says in which language the visitor reads, so that the next page opens in it. */
export const speak = (language: string): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_language", { language }));

/** Says that the page works. The shell loads it again if it stays silent. */
export const beat = (): Promise<void> => (example ? Promise.resolve() : invoke<void>("kiosk_alive"));
