// The open dialogs. A notice that appears while one is open is shown in it: outside of the dialog,
// its button could not be reached without closing the dialog.

import { notices, type Change, type Notice } from "./notices.svelte";

export interface OpenDialog {
  /** The id of the first notice that appeared while it was open. */
  since: number;
}

class Dialogs {
  #open = $state.raw<OpenDialog[]>([]);

  /** The dialog that gets the keys. */
  get top(): OpenDialog | null {
    return this.#open.at(-1) ?? null;
  }

  /** Notes that a dialog opened. */
  opened(): OpenDialog {
    const dialog = { since: notices.next };
    this.#open = [...this.#open, dialog];
    return dialog;
  }

  closed(dialog: OpenDialog): void {
    this.#open = this.#open.filter((one) => one !== dialog);
  }

  /** The notices of a dialog, or of the window; each is in one place only. */
  noticesOf(dialog: OpenDialog | null): Notice[] {
    const { top } = this;
    if (dialog) return dialog === top ? notices.shown.filter(({ id }) => id >= dialog.since) : [];
    return top ? notices.shown.filter(({ id }) => id < top.since) : notices.shown;
  }

  /**
   * The latest change that can be undone. In a dialog only its own changes count, because others
   * are not visible.
   */
  get undoable(): Change | null {
    const since = this.top?.since ?? 0;
    return notices.changes.filter(({ id }) => id >= since).at(-1) ?? null;
  }

  /** Undoes it. */
  undo(): void {
    const { undoable } = this;
    if (undoable) void notices.undoOne(undoable);
  }
}

export const dialogs = new Dialogs();
