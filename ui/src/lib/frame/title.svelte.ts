// The title of the document: what is open, its screen, and the program. Screen readers say it
// first, and the history of the window lists it.

import { untrack } from "svelte";

class Title {
  /** Names of what is open, the newest last. One that is not known yet is empty. */
  #open = $state.raw<readonly (() => string)[]>([]);

  /** Adds a name until the answer is called. */
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

/** Names what is open while this component is shown. */
export function useTitle(name: () => string): void {
  $effect(() => title.add(name));
}
