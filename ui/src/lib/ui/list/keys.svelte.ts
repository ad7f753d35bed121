// The keys of a list: the active row, the row that each key leads to, and the focus, which moves
// into the pane of a row and back. It handles clicks with a modifier key, too.

import { tick } from "svelte";
import type { VirtualizerHandle } from "virtua/svelte";
import { router } from "../../window/router.svelte";
import type { Selection } from "../selection.svelte";
import { arrowOf, isBefore } from "./arrive";
import { stepOf } from "./step";

/** Frames to wait for a row or a pane to appear; a slow service may never show it. */
const FRAMES = 120;

/** The link of a row to its pane, if it has one. */
const linkOf = (row: HTMLElement) => row.querySelector<HTMLAnchorElement>("[data-opens]");

const frame = () => new Promise(requestAnimationFrame);

/** The list's interface for its keys. */
interface KeyedList {
  items: () => readonly { id: number }[];
  selection: () => Selection | null;
  /** The height of a row, in pixels. */
  height: () => number;
  /** Whether there are rows that have not been loaded. */
  more: () => boolean;
  /** Loads pages towards the end. Returns whether it was not stopped. */
  loadOn: () => Promise<boolean>;
  /** Stops `loadOn`. */
  stop: () => unknown;
}

export class Keys {
  scroller = $state<HTMLElement>();
  virtual = $state<VirtualizerHandle>();
  /** Whether the focus is in the list. */
  focused = $state(false);
  /** The row that the keys act on. */
  active = $state<number | null>(null);
  /** The row that is a stop of the Tab key. */
  readonly stop = $derived.by(() => {
    const items = this.list.items();
    const open = router.place.selected;
    return this.active ?? (items.some((item) => String(item.id) === open) ? Number(open) : (items[0]?.id ?? null));
  });
  /** The index of that row: it stays in the document out of sight, since it may have the focus. */
  readonly kept = $derived.by(() => {
    const at = this.focused ? this.#at : -1;
    return at < 0 ? [] : [at];
  });
  /** The row whose pane was open when `follow` was called last. */
  #opened: string | null = null;

  constructor(readonly list: KeyedList) {}

  /** Moves the active row by a number of rows. The first key press only shows the active row. */
  readonly move = (by: number) => this.#go(this.active === null && !this.focused ? Math.max(0, this.#at) : this.#at + by);

  /** Selects the active row, or with `extend` all rows up to it. */
  select(extend = false): void {
    const [selection, id] = [this.list.selection(), this.stop];
    if (!selection || id === null) return;
    if (extend) selection.extend(id, this.list.items());
    else selection.toggle(id);
  }

  readonly press = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const on = event.target as HTMLElement;
    const row = on.closest<HTMLElement>("[data-row]");
    if (row && this.#inRow(event, row, on)) return event.preventDefault();
    if (event.key === "End" && this.list.more()) {
      event.preventDefault();
      return void this.#end(event.shiftKey);
    }
    const to = stepOf(event.key, this.#at, this.list.items().length, Math.floor((this.scroller?.clientHeight ?? 0) / this.list.height()));
    if (to === null) return;
    event.preventDefault();
    this.list.stop();
    if (event.shiftKey && this.list.selection()) {
      this.select(true);
      void this.#go(to).then(() => this.select(true));
    } else void this.#go(to);
  };

  /** A click on a row follows its link. */
  readonly click = (event: MouseEvent): void => {
    const on = event.target as HTMLElement;
    const row = on.closest<HTMLElement>("[data-row]");
    if (!row || on.closest("button, input, label")) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) this.#pick(event, row);
    else if (!on.closest("a")) linkOf(row)?.click();
  };

  /**
   * Prevents text selection between two clicks, and keeps the focus on the former row, where a
   * range begins.
   */
  readonly hold = (event: MouseEvent): void => {
    if (event.shiftKey && !(event.target as HTMLElement).closest("input")) event.preventDefault();
  };

  /**
   * An arrow key leads into the list if it has no other meaning: on the heading of the screen,
   * which has the focus after each jump, in the search above the list, or nowhere.
   */
  readonly arrive = (event: KeyboardEvent): void => {
    const by = arrowOf(event);
    // A list that is covered by its pane gets no keys.
    if (!by || !isBefore(event.target as HTMLElement, by) || !this.scroller?.offsetParent) return;
    event.preventDefault();
    void this.#go(Math.max(0, this.#at));
  };

  readonly enter = (event: FocusEvent): void => {
    this.focused = true;
    const id = (event.target as HTMLElement).closest<HTMLElement>("[data-id]")?.dataset.id;
    if (id) this.active = Number(id);
  };

  readonly leave = (event: FocusEvent): void => {
    this.focused = (event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null);
  };

  /** Notes the row whose pane is open. When the pane closes, the former row gets the focus. */
  follow(open: string | null): void {
    if (this.#opened !== null && open === null && document.activeElement === document.body) {
      const id = Number(this.#opened);
      const index = this.list.items().findIndex((item) => item.id === id);
      if (index >= 0) void this.#go(index);
    }
    this.#opened = open;
  }

  /**
   * Handles the keys of a row, and those that lead to its buttons and back. Returns whether it was
   * one of them.
   */
  #inRow({ key, shiftKey }: KeyboardEvent, row: HTMLElement, on: HTMLElement): boolean {
    if (key === "ArrowRight" || key === "ArrowLeft") {
      const stops = [row, ...row.querySelectorAll<HTMLElement>("input, button:not(:disabled), a:not([data-opens])")];
      const to = stops.indexOf(on) + (key === "ArrowRight" ? 1 : -1);
      if (stops[to]) stops[to].focus();
      return true;
    }
    if (on !== row && !on.matches("[data-opens]")) return false;
    if (key === "Enter" && linkOf(row)) {
      linkOf(row)!.click();
      void this.#enterPane(row.dataset.row!);
      return true;
    }
    if (key !== " " || !this.list.selection()) return false;
    this.select(shiftKey);
    return true;
  }

  /**
   * A click on a row with a modifier: Shift selects all rows up to it, Ctrl and Cmd add it. It
   * opens no window.
   */
  #pick(event: MouseEvent, row: HTMLElement): void {
    event.preventDefault();
    const id = Number(row.dataset.row);
    const selection = this.list.selection();
    if (!selection) {
      const link = linkOf(row);
      if (link) location.hash = link.hash;
      return;
    }
    if (event.shiftKey) selection.extend(id, this.list.items(), this.active);
    else selection.toggle(id);
    this.active = id;
    this.#focus(id);
  }

  get #at(): number {
    return this.list.items().findIndex((item) => item.id === this.stop);
  }

  /**
   * Moves to the end, as far as it can be loaded. If the person moves in the meantime, that
   * position stays.
   */
  async #end(extend: boolean): Promise<void> {
    const from = this.active;
    if (extend) this.select(true);
    if (!(await this.list.loadOn()) || this.active !== from) return;
    // After this, the virtual list knows the new rows.
    await tick();
    await this.#go(this.list.items().length - 1);
    if (extend) this.select(true);
  }

  /** Moves to the row at `index`, and scrolls to it. */
  async #go(index: number): Promise<void> {
    const items = this.list.items();
    const item = items[Math.max(0, Math.min(items.length - 1, index))];
    if (!item) return;
    this.active = item.id;
    this.virtual?.scrollToIndex(items.indexOf(item), { align: "nearest" });
    if (this.#focus(item.id)) return;
    // A row that was not visible can get the focus only after it is measured. Until then the list
    // has the focus, so that the next key is not lost, and a person who moved away is not called
    // back.
    this.scroller?.focus({ preventScroll: true });
    for (let tries = 0; tries < FRAMES; tries++) {
      await frame();
      if (this.active !== item.id || document.activeElement !== this.scroller || this.#focus(item.id)) return;
    }
  }

  /** Gives the focus to a row. Returns whether that succeeded. */
  #focus(id: number): boolean {
    const row = this.scroller?.querySelector<HTMLElement>(`[data-row="${id}"]`);
    row?.focus({ preventScroll: true });
    return row === document.activeElement;
  }

  /**
   * The focus follows the eye: into the opened pane, once its content is loaded. Until then it
   * stays on the row.
   */
  async #enterPane(id: string): Promise<void> {
    const heading = () => {
      const head = document.querySelector<HTMLElement>("aside h2");
      return head?.closest("[aria-busy=true]") ? null : head;
    };
    const former = router.place.selected === id ? null : heading();
    const from = document.activeElement;
    for (let tries = 0; tries < FRAMES; tries++) {
      const now = heading();
      if (now && now !== former) return now.focus();
      await frame();
      if (document.activeElement !== from && document.activeElement !== document.body) return;
    }
  }
}
