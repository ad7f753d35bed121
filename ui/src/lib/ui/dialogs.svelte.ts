// The open dialogs. A notice that comes while one is open is shown in it: beside the dialog
// neither the mouse nor the keyboard would reach its button without closing what is typed.

import { notices, type Notice } from "../frame/notices.svelte";

export interface OpenDialog {
  /** The first notice that came while it was open. */
  since: number;
}

class Dialogs {
  #open = $state.raw<OpenDialog[]>([]);

  /** The one that takes the keys. */
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

  /** The notices of a dialog, or without one those of the window; none twice. */
  noticesOf(dialog: OpenDialog | null): Notice[] {
    const { top } = this;
    if (dialog) return dialog === top ? notices.shown.filter(({ id }) => id >= dialog.since) : [];
    return top ? notices.shown.filter(({ id }) => id < top.since) : notices.shown;
  }

  /** The latest notice in reach that offers an undo, if there is one. */
  get undoable(): Notice | null {
    return (
      this.noticesOf(this.top)
        .filter(({ undo }) => undo)
        .at(-1) ?? null
    );
  }

  /** Undoes what it is about. */
  undo(): void {
    const { undoable } = this;
    if (undoable) void notices.undo(undoable);
  }
}

export const dialogs = new Dialogs();
