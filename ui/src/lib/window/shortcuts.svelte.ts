// Keyboard shortcuts: one list for the keys and for the dialog that shows them.

import { untrack } from "svelte";
import { dialogs } from "./dialogs.svelte";
import { byCommand } from "./keyNames";
import { navigation, offers } from "./navigation";
import { scale } from "./scale.svelte";
import { singleKeys } from "./singleKeys.svelte";
import { router } from "./router.svelte";

export interface Shortcut {
  keys: string;
  does: string;
  run: () => void;
  /** Whether it runs in text fields, too. */
  inText?: true;
}

/**
 * How long the first key of a chord waits for the second, in milliseconds. After that it does not
 * belong to keys that are typed later.
 */
const CHORD = 1_500;

class Shortcuts {
  palette = $state(false);
  sheet = $state(false);
  /** Shortcuts of the screen and of the parts in it; the innermost part has priority. */
  #layers = $state.raw<{ order: number; shortcuts: Shortcut[] }[]>([]);
  #count = 0;

  /** Shortcuts of the frame, to the screens that the connection may use. */
  get everywhere(): Shortcut[] {
    return [
      { keys: "Ctrl K", does: "Search or run a command", inText: true, run: () => (this.palette = true) },
      { keys: "Ctrl Z", does: "Undo the last change", run: () => dialogs.undo() },
      ...(scale.offered
        ? [
            { keys: "Ctrl +", does: "Make everything larger", inText: true as const, run: () => scale.larger() },
            { keys: "Ctrl -", does: "Make everything smaller", inText: true as const, run: () => scale.smaller() },
            { keys: "Ctrl 0", does: "Show everything at its normal size", inText: true as const, run: () => scale.reset() },
          ]
        : []),
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

  /** All active shortcuts, those of the innermost part first. */
  get usable(): Shortcut[] {
    return [...this.here, ...this.everywhere].filter(({ keys }) => singleKeys.allows(keys));
  }

  /** Shortcuts of the present screen. */
  get here(): Shortcut[] {
    const found = new Map(this.#layers.flatMap((layer) => layer.shortcuts).map((shortcut) => [shortcut.keys, shortcut]));
    return [...found.values()];
  }

  /** The order number of a component: a component is set up before its children. */
  next(): number {
    return ++this.#count;
  }

  /** Adds shortcuts until the returned function is called. */
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
    // Dialogs, menus and lists over the screen use the keys themselves: letters select entries.
    const above = target.closest?.("[role=dialog], [role=menu], [role=listbox]");
    if (typing || above || this.palette || this.sheet) return;
    if (event.timeStamp - this.#since > CHORD) this.#before = "";
    const chord = this.#before ? `${this.#before} ${event.key}` : event.key;
    const found = this.usable.find((shortcut) => shortcut.keys === chord);
    this.#before = !found && event.key === "g" ? "g" : "";
    this.#since = event.timeStamp;
    if (found) {
      event.preventDefault();
      found.run();
    }
  }

  /**
   * Runs the window's command for Ctrl, or Cmd on a Mac. Dialogs have the same commands; text
   * fields have their own undo.
   */
  #command(event: KeyboardEvent, typing: boolean): void {
    if (event.altKey || !(byCommand ? event.metaKey : event.ctrlKey)) return;
    const key = commandKey(event);
    const found = this.everywhere.find(({ keys }) => keys === `Ctrl ${key}`);
    if (!found || (typing && !found.inText)) return;
    event.preventDefault();
    found.run();
  }
}

export const shortcuts = new Shortcuts();

/**
 * The key of a command in the form of the list; null with Shift, except for a plus that needs it.
 * On keyboards whose plus needs Shift, the same key without Shift has the same effect. A zero may
 * need Shift, too, so it is recognized by its position.
 */
function commandKey({ key, code, shiftKey }: KeyboardEvent): string | null {
  if (key === "+") return "+";
  if (shiftKey) return null;
  if (key === "=") return "+";
  return code === "Digit0" || code === "Numpad0" ? "0" : key.toUpperCase();
}

/** Adds shortcuts while this component is shown. */
export function useShortcuts(of: () => Shortcut[]): void {
  // Effects run from the inside out, so the order is taken here.
  const order = shortcuts.next();
  $effect(() => shortcuts.add(of(), order));
}
