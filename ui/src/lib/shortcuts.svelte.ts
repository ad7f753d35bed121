// Keyboard shortcuts: one list for the keys and for the dialog that shows them.

import { untrack } from "svelte";
import { navigation } from "./navigation";
import { router } from "./router.svelte";

export interface Shortcut {
  keys: string;
  does: string;
  run: () => void;
}

class Shortcuts {
  palette = $state(false);
  sheet = $state(false);
  /** Of the screen and of what is in it; the last one added has its keys first. */
  #layers = $state.raw<Shortcut[][]>([]);

  readonly everywhere: Shortcut[] = [
    { keys: "Ctrl K", does: "Search or run a command", run: () => (this.palette = true) },
    { keys: "?", does: "Show shortcuts", run: () => (this.sheet = true) },
    ...navigation.flat().map(({ screen, name, key }) => ({
      keys: `g ${key}`,
      does: `Go to ${screen === "templates" ? name : name.toLowerCase()}`,
      run: () => router.go(screen),
    })),
  ];

  /** Shortcuts of what is shown now. */
  get here(): Shortcut[] {
    const found = new Map(this.#layers.flat().map((shortcut) => [shortcut.keys, shortcut]));
    return [...found.values()];
  }

  /** Adds shortcuts while something is shown; for `$effect`. */
  add(shortcuts: Shortcut[]): () => void {
    this.#layers = [...untrack(() => this.#layers), shortcuts];
    return () => {
      this.#layers = this.#layers.filter((layer) => layer !== shortcuts);
    };
  }

  #before = "";

  /** Runs the shortcut of a key, except in text fields. */
  press(event: KeyboardEvent): void {
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.palette = true;
      return;
    }
    const target = event.target as HTMLElement;
    const typing = target.isContentEditable || target.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");
    if (command || event.altKey || typing || this.palette || this.sheet) return;
    const chord = this.#before ? `${this.#before} ${event.key}` : event.key;
    const found = [...this.here, ...this.everywhere].find((shortcut) => shortcut.keys === chord);
    this.#before = !found && event.key === "g" ? "g" : "";
    if (found) {
      event.preventDefault();
      found.run();
    }
  }
}

export const shortcuts = new Shortcuts();
