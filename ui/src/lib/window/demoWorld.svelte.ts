// The world that all screens show: the owner's tags, or the demo world with its simulated tags.

import { get } from "../api/client";
import { perConnection } from "../api/connection.svelte";
import { shell } from "../shell/shell.svelte";
import { live } from "./live.svelte";

/**
 * The connection whose demo world is shown. It survives a reload of the window, but not a restart.
 */
const KEY = "demo-world";
const here = () => shell.ready?.connection.id ?? "";

class DemoWorld {
  #on = $state(sessionStorage.getItem(KEY) === here());
  /** Whether there were simulated tags at the last check. */
  #found = $state(false);

  /** Whether the screens show the demo world. */
  get on(): boolean {
    return this.#on;
  }

  set on(on: boolean) {
    this.#on = on;
    if (on) sessionStorage.setItem(KEY, here());
    else sessionStorage.removeItem(KEY);
  }

  /** Whether there is a demo world to switch to. */
  get exists(): boolean {
    return this.#found || live.taps.simulated > 0;
  }

  /** The world, in the form of the lists' parameter. */
  get simulated(): "true" | "false" {
    return this.#on ? "true" : "false";
  }

  /** Checks whether there are simulated tags. Without them the demo world is left. */
  async load(): Promise<void> {
    const page = await get("/tags", { simulated: "true", limit: 1 }).catch(() => null);
    if (page === null) return;
    this.#found = page.items.length > 0;
    if (!this.#found) this.on = false;
  }
}

export const demoWorld = perConnection(() => new DemoWorld());

/**
 * Handles a click on a link to a simulated thing: opens it in its own world. Other links behave as
 * usual.
 */
export function inItsWorld(event: MouseEvent, simulated: boolean): void {
  if (!simulated || demoWorld.on || event.ctrlKey || event.metaKey) return;
  const { hash } = event.currentTarget as HTMLAnchorElement;
  event.preventDefault();
  demoWorld.on = true;
  location.hash = hash;
}
