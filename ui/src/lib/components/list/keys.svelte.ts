// The keys of a list: the row that has them, the row that each leads to, and the focus,
// which goes along into the pane of a row and back.

import type { VirtualizerHandle } from "virtua/svelte";
import { router } from "../../router.svelte";
import type { Selection } from "../../selection.svelte";
import { stepOf } from "./step";

/** Frames to wait for a row or a pane to appear; a slow service may never show it. */
const FRAMES = 120;

const frame = () => new Promise(requestAnimationFrame);

export class Keys {
  scroller = $state<HTMLElement>();
  virtual = $state<VirtualizerHandle>();
  /** Whether the focus is in the list. */
  focused = $state(false);
  /** The row that the keys act on. */
  active = $state<number | null>(null);
  /** The row that is a stop of the Tab key. */
  readonly stop = $derived.by(() => {
    const items = this.items();
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

  constructor(
    readonly items: () => readonly { id: number }[],
    readonly selection: () => Selection | null,
    /** The height of a row, in pixels. */
    readonly height: () => number,
  ) {}

  /** Moves the keys by a number of rows. The first one shows where they are. */
  readonly move = (by: number) => this.#go(this.active === null && !this.focused ? Math.max(0, this.#at) : this.#at + by);

  /** Selects the row that has the keys, or with `extend` all up to it. */
  select(extend = false): void {
    const [selection, id] = [this.selection(), this.stop];
    if (!selection || id === null) return;
    if (extend) selection.extend(id, this.items());
    else selection.toggle(id);
  }

  readonly press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row } = (event.target as HTMLElement).dataset;
    if (event.key === "Enter" && row) void this.#enterPane(row);
    const to = stepOf(event.key, this.#at, this.items().length, Math.floor((this.scroller?.clientHeight ?? 0) / this.height()));
    if (to === null) return;
    event.preventDefault();
    if (event.shiftKey && this.selection()) {
      this.select(true);
      void this.#go(to).then(() => this.select(true));
    } else void this.#go(to);
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
      const index = this.items().findIndex((item) => item.id === id);
      if (index >= 0) void this.#go(index);
    }
    this.#opened = open;
  }

  get #at(): number {
    return this.items().findIndex((item) => item.id === this.stop);
  }

  /** Moves the keys to the row at `index`, into sight. */
  async #go(index: number): Promise<void> {
    const items = this.items();
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

  /** The focus goes where the eye goes: into the pane that opened. */
  async #enterPane(id: string): Promise<void> {
    const heading = () => document.querySelector<HTMLElement>("aside h2");
    const former = router.place.selected === id ? null : heading();
    for (let tries = 0; tries < FRAMES; tries++) {
      const now = heading();
      if (now && now !== former) return now.focus();
      await frame();
    }
  }
}
