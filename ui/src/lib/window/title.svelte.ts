// The title of the document: the open thing, its screen, and the program. Screen readers say it
// first, and the window's history lists it.

import { untrack } from "svelte";

class Title {
  /** Names of the open things, the newest last. A name that is not known yet is empty. */
  #open = $state.raw<readonly (() => string)[]>([]);

  /** Adds a name until the returned function is called. */
  add(name: () => string): () => void {
    this.#open = [...untrack(() => this.#open), name];
    return () => {
      this.#open = this.#open.filter((one) => one !== name);
    };
  }

  /** The title while a screen is shown. */
  on(screen: string): string {
    const thing = this.#open
      .map((name) => name())
      .filter(Boolean)
      .at(-1);
    return [thing, screen, "Tapdesk"].filter(Boolean).join(" · ");
  }
}

export const title = new Title();

/** Adds a name to the title while this component is shown. */
export function useTitle(name: () => string): void {
  $effect(() => title.add(name));
}
