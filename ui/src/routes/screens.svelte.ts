// Screens are loaded when they are shown for the first time. A start needs one of them, and the
// code of all screens is most of the program.

import type { Component } from "svelte";
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { Screen } from "../lib/window/router.svelte";

const loads: Record<Screen, () => Promise<{ default: Component }>> = {
  overview: () => import("./overview/Overview.svelte"),
  tags: () => import("./tags/Tags.svelte"),
  experiences: () => import("./experiences/Experiences.svelte"),
  interactions: () => import("./interactions/Interactions.svelte"),
  submissions: () => import("./submissions/Submissions.svelte"),
  inlays: () => import("./inlays/Inlays.svelte"),
  unlisted: () => import("./unlisted/Unlisted.svelte"),
  templates: () => import("./templates/Templates.svelte"),
  move: () => import("./move/Move.svelte"),
  encode: () => import("./encode/Encode.svelte"),
  reader: () => import("./reader/Reader.svelte"),
  sheets: () => import("./sheets/Sheets.svelte"),
  simulator: () => import("./simulator/Simulator.svelte"),
  settings: () => import("./settings/Settings.svelte"),
};

/**
 * Pauses before each attempt to load a screen, in milliseconds: a development server may be away
 * for a moment.
 */
const PAUSES = [0, 300, 1_000];

/** Loads failed styles again: another import of the same screen does not report them. */
async function styleAgain(): Promise<void> {
  const links = [...document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")];
  const again = links.filter((link) => link.sheet === null).map(loadAgain);
  await Promise.all(again);
}

function loadAgain(link: HTMLLinkElement): Promise<void> {
  return new Promise((done, fail) => {
    const again = document.createElement("link");
    Object.assign(again, { rel: "stylesheet", href: link.href, onload: () => done(), onerror: () => fail(new Error(link.href)) });
    link.replaceWith(again);
  });
}

class Screens {
  #loaded = new SvelteMap<Screen, Component>();
  #missing = new SvelteSet<Screen>();

  /** The screen, once it is loaded. */
  of(screen: Screen): Component | undefined {
    return this.#loaded.get(screen);
  }

  /** Whether the screen could not be loaded: the program that served this page is gone. */
  isMissing(screen: Screen): boolean {
    return this.#missing.has(screen);
  }

  async load(screen: Screen): Promise<void> {
    for (const pause of PAUSES) {
      if (this.#loaded.has(screen)) return;
      if (pause > 0) await new Promise((done) => setTimeout(done, pause));
      if (await this.#attempt(screen, pause > 0)) return;
    }
    this.#missing.add(screen);
  }

  async #attempt(screen: Screen, again: boolean): Promise<boolean> {
    try {
      if (again) await styleAgain();
      const { default: loaded } = await loads[screen]();
      this.#loaded.set(screen, loaded);
      this.#missing.delete(screen);
      return true;
    } catch {
      return false;
    }
  }
}

export const screens = new Screens();
