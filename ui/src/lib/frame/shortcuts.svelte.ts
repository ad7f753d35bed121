// Keyboard shortcuts: one list for the keys and for the dialog that shows them.

import { untrack } from "svelte";
import { dialogs } from "../ui/dialogs.svelte";
import { byCommand } from "./keyNames";
import { navigation, offers } from "./navigation";
import { router } from "./router.svelte";

export interface Shortcut {
  keys: string;
  does: string;
  run: () => void;
  /** Whether it runs in text fields, too. */
  inText?: true;
}

/** How long the first key of a chord waits for its second, in milliseconds: a key that was left alone belongs to nothing typed later. */
const CHORD = 1_500;

class Shortcuts {
  palette = $state(false);
  sheet = $state(false);
  /** Of the screen and of what is in it; the innermost has its keys first. */
  #layers = $state.raw<{ order: number; shortcuts: Shortcut[] }[]>([]);
  #count = 0;

  /** Shortcuts of the frame: to the screens that the connection may use. */
  get everywhere(): Shortcut[] {
    return [
      { keys: "Ctrl K", does: "Search or run a command", inText: true, run: () => (this.palette = true) },
      { keys: "Ctrl Z", does: "Undo the last change while its notice is shown", run: () => dialogs.undo() },
      { keys: "?", does: "Show shortcuts", run: () => (this.sheet = true) },
      ...navigation
        .flat()
        .filter(offers)
        .map(({ screen, selected, name, key }) => ({
          keys: `g ${key}`,
          does: `Go to ${screen === "templates" ? name : name.toLowerCase()}`,
          run: () => router.go(screen, selected ?? null),
        })),
    ];
  }

  /** Shortcuts of what is shown now. */
  get here(): Shortcut[] {
    const found = new Map(this.#layers.flatMap((layer) => layer.shortcuts).map((shortcut) => [shortcut.keys, shortcut]));
    return [...found.values()];
  }

  /** The order of a component among those that are shown: a component is set up before what is in it. */
  next(): number {
    return ++this.#count;
  }

  /** Adds shortcuts until the answer is called. */
  add(shortcuts: Shortcut[], order = this.next()): () => void {
    const layer = { order, shortcuts };
    this.#layers = [...untrack(() => this.#layers), layer].sort((one, other) => one.order - other.order);
    return () => {
      this.#layers = this.#layers.filter((one) => one !== layer);
    };
  }

  /** The key that begins a chord, and when it was pressed, in milliseconds. */
  #before = "";
  #since = 0;

  /** Runs the shortcut of a key, except in text fields, dialogs and menus. */
  press(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const typing = target.isContentEditable || target.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");
    if (event.ctrlKey || event.metaKey || event.altKey) return this.#command(event, typing);
    // What lies over the screen has the keys for itself: letters choose in menus and lists.
    const above = target.closest?.("[role=dialog], [role=menu], [role=listbox]");
    if (typing || above || this.palette || this.sheet) return;
    if (event.timeStamp - this.#since > CHORD) this.#before = "";
    const chord = this.#before ? `${this.#before} ${event.key}` : event.key;
    const found = [...this.here, ...this.everywhere].find((shortcut) => shortcut.keys === chord);
    this.#before = !found && event.key === "g" ? "g" : "";
    this.#since = event.timeStamp;
    if (found) {
      event.preventDefault();
      found.run();
    }
  }

  /** Runs the command of the window with Ctrl, or Cmd on a Mac. Those of dialogs are the same; text has its own undo. */
  #command(event: KeyboardEvent, typing: boolean): void {
    if (event.altKey || event.shiftKey || !(byCommand ? event.metaKey : event.ctrlKey)) return;
    const found = this.everywhere.find(({ keys }) => keys === `Ctrl ${event.key.toUpperCase()}`);
    if (!found || (typing && !found.inText)) return;
    event.preventDefault();
    found.run();
  }
}

export const shortcuts = new Shortcuts();

/** Adds shortcuts while this component is shown. */
export function useShortcuts(of: () => Shortcut[]): void {
  // Effects run from the inside out: the order is taken here.
  const order = shortcuts.next();
  $effect(() => shortcuts.add(of(), order));
}
