// The keys of a list: the row that has them, the row that each leads to, and the focus,
// which goes along into the pane of a row and back. Clicks with a key held are theirs, too.

import { tick } from "svelte";
import type { VirtualizerHandle } from "virtua/svelte";
import { router } from "../../frame/router.svelte";
import type { Selection } from "../selection.svelte";
import { stepOf } from "./step";

/** Frames to wait for a row or a pane to appear; a slow service may never show it. */
const FRAMES = 120;

const frame = () => new Promise(requestAnimationFrame);

/** What the keys are told of their list. */
interface KeyedList {
  items: () => readonly { id: number }[];
  selection: () => Selection | null;
  /** The height of a row, in pixels. */
  height: () => number;
  /** Whether there are rows that are not loaded. */
  more: () => boolean;
  /** Loads on towards the end; answers whether it was let. */
  loadOn: () => Promise<boolean>;
  /** Ends that. */
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

  /** Moves the keys by a number of rows. The first one shows where they are. */
  readonly move = (by: number) => this.#go(this.active === null && !this.focused ? Math.max(0, this.#at) : this.#at + by);

  /** Selects the row that has the keys, or with `extend` all up to it. */
  select(extend = false): void {
    const [selection, id] = [this.list.selection(), this.stop];
    if (!selection || id === null) return;
    if (extend) selection.extend(id, this.list.items());
    else selection.toggle(id);
  }

  readonly press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row } = (event.target as HTMLElement).dataset;
    if (event.key === "Enter" && row) void this.#enterPane(row);
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

  /** A click on a row while a key is held: Shift selects all up to it, Ctrl and Cmd select it, too. No window is opened by it. */
  readonly pick = (event: MouseEvent, id: number): void => {
    if (!event.shiftKey && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const selection = this.list.selection();
    if (!selection) {
      location.hash = (event.currentTarget as HTMLAnchorElement).hash;
      return;
    }
    if (event.shiftKey) selection.extend(id, this.list.items(), this.active);
    else selection.toggle(id);
    this.active = id;
    this.#focus(id);
  };

  readonly enter = (event: FocusEvent): void => {
    this.focused = true;
    const id = (event.target as HTMLElement).closest<HTMLElement>("[data-id]")?.dataset.id;
    if (id) this.active = Number(id);
  };

  readonly leave = (event: FocusEvent): void => {
    this.focused = (event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null);
  };

  /** Takes note of the row whose pane is open. Once none is, the row that was has the focus. */
  follow(open: string | null): void {
    if (this.#opened !== null && open === null && document.activeElement === document.body) {
      const id = Number(this.#opened);
      const index = this.list.items().findIndex((item) => item.id === id);
      if (index >= 0) void this.#go(index);
    }
    this.#opened = open;
  }

  get #at(): number {
    return this.list.items().findIndex((item) => item.id === this.stop);
  }

  /** Moves the keys to the end, as far as it can be loaded. Whoever moves on meanwhile stays there. */
  async #end(extend: boolean): Promise<void> {
    const from = this.active;
    if (extend) this.select(true);
    if (!(await this.list.loadOn()) || this.active !== from) return;
    // The rows that came are known to the virtual list after this.
    await tick();
    await this.#go(this.list.items().length - 1);
    if (extend) this.select(true);
  }

  /** Moves the keys to the row at `index`, into sight. */
  async #go(index: number): Promise<void> {
    const items = this.list.items();
    const item = items[Math.max(0, Math.min(items.length - 1, index))];
    if (!item) return;
    this.active = item.id;
    this.virtual?.scrollToIndex(items.indexOf(item), { align: "nearest" });
    if (this.#focus(item.id)) return;
    // A row that was out of sight takes no focus before it is measured. The list has it
    // meanwhile, so that the next key is not lost, and nobody who went elsewhere is called back.
    this.scroller?.focus({ preventScroll: true });
    for (let tries = 0; tries < FRAMES; tries++) {
      await frame();
      if (this.active !== item.id || document.activeElement !== this.scroller || this.#focus(item.id)) return;
    }
  }

  /** Gives the focus to a row; answers whether it took it. */
  #focus(id: number): boolean {
    const link = this.scroller?.querySelector<HTMLElement>(`[data-row="${id}"]`);
    link?.focus({ preventScroll: true });
    return link === document.activeElement;
  }

  /** The focus goes where the eye goes: into the pane that opened, once its thing is there. Until then it stays on the row. */
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
