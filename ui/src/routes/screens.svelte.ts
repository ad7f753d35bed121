// Screens are loaded when they are shown for the first time: a start needs one of them, and the code of all
// is most of the program.

import type { Component } from "svelte";
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { Screen } from "../lib/frame/router.svelte";

const loads: Record<Screen, () => Promise<{ default: Component }>> = {
  overview: () => import("./overview/Overview.svelte"),
  tags: () => import("./tags/Tags.svelte"),
  experiences: () => import("./experiences/Experiences.svelte"),
  interactions: () => import("./interactions/Interactions.svelte"),
  submissions: () => import("./submissions/Submissions.svelte"),
  inlays: () => import("./inlays/Inlays.svelte"),
  templates: () => import("./templates/Templates.svelte"),
  move: () => import("./move/Move.svelte"),
  encode: () => import("./encode/Encode.svelte"),
  reader: () => import("./reader/Reader.svelte"),
  sheets: () => import("./sheets/Sheets.svelte"),
  simulator: () => import("./simulator/Simulator.svelte"),
  settings: () => import("./settings/Settings.svelte"),
};

class Screens {
  #loaded = new SvelteMap<Screen, Component>();
  #missing = new SvelteSet<Screen>();

  /** The screen, once it is loaded. */
  of(screen: Screen): Component | undefined {
    return this.#loaded.get(screen);
  }

  /** Whether the screen could not be loaded: the program that this page is from has gone. */
  isMissing(screen: Screen): boolean {
    return this.#missing.has(screen);
  }

  async load(screen: Screen): Promise<void> {
    if (this.#loaded.has(screen)) return;
    try {
      const { default: loaded } = await loads[screen]();
      this.#loaded.set(screen, loaded);
    } catch {
      this.#missing.add(screen);
    }
  }
}

export const screens = new Screens();
