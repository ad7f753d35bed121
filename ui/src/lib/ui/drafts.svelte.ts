// The drafts of all forms. One with edits stays when its form is left, by a click on
// another row, another screen or another connection, and is there when the form opens
// again. The window asks before it closes on any of them, and before it loads the page again.

import { onDestroy } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { setUnsaved } from "../shell/desktop";
import { Draft } from "./draft.svelte";
import { notices } from "../frame/notices.svelte";
import { shell } from "../shell/shell.svelte";

/** A form with its place. */
export interface Form {
  /** In words: "Bottle 41, location". */
  title: string;
  /** The address of its screen, with the part that shows it. */
  href: string;
}

interface Kept extends Form {
  connection: string;
  // The members differ from form to form; nothing here reads them.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  draft: Draft<any>;
  /** How often its form is in the page: twice for a moment, as one takes the place of another. */
  open: number;
}

class Drafts {
  #all = new SvelteMap<string, Kept>();

  constructor() {
    $effect.root(() => {
      const unsaved = $derived(this.unsaved.length > 0);
      $effect(() => void setUnsaved(unsaved));
      $effect(() => {
        if (!unsaved) return;
        addEventListener("beforeunload", ask);
        return () => removeEventListener("beforeunload", ask);
      });
    });
  }

  /** Drafts with edits, of every connection: all that is lost with the window. */
  get unsaved(): readonly Kept[] {
    return [...this.#all.values()].filter(({ draft }) => draft.changed);
  }

  /** Drafts with edits whose forms were left, of the connected service. */
  get left(): readonly Kept[] {
    return this.unsaved.filter(({ open, connection }) => open === 0 && connection === here());
  }

  /** The draft of a form: the one that was left, or a new one of what is `stored`. */
  open<T extends object>(form: Form, stored: () => T): Draft<T> {
    const connection = here();
    const key = `${connection} ${form.href}`;
    const kept = this.#all.get(key);
    const draft = (kept?.draft as Draft<T> | undefined) ?? new Draft(stored());
    this.#all.set(key, { ...form, connection, draft, open: (kept?.open ?? 0) + 1 });
    return draft;
  }

  /** Takes note that the form of `draft` is no longer in the page. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  leave(draft: Draft<any>, title: string): void {
    for (const [key, kept] of this.#all) {
      if (kept.draft !== draft) continue;
      if (kept.open > 1) this.#all.set(key, { ...kept, open: kept.open - 1 });
      else if (!draft.changed) this.#all.delete(key);
      else {
        this.#all.set(key, { ...kept, title, open: 0 });
        // "Show" would look for it in the service that the screens show.
        if (shell.ready && kept.connection !== here())
          notices.done(`${title}: your changes are kept for when you connect there again, but not saved.`);
        else notices.offer(`${title}: your changes are kept, but not saved.`, "Show", () => (location.hash = kept.href));
      }
    }
  }

  /** Discards the edits of a form that was left. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  drop(draft: Draft<any>): void {
    draft.revert();
    for (const [key, kept] of this.#all) if (kept.draft === draft) this.#all.delete(key);
  }
}

/** Lets the window ask whether to leave the page. */
const ask = (event: Event) => event.preventDefault();

const here = () => shell.ready?.connection.id ?? "";

export const drafts = new Drafts();

/** The draft of the form of this component. `title` names it when the form is left. */
export function useDraft<T extends object>(title: () => string, href: string, stored: () => T): Draft<T> {
  const draft = drafts.open({ title: title(), href }, stored);
  // The component's properties may be gone by the time it is destroyed.
  let last = title();
  $effect(() => void (last = title()));
  onDestroy(() => drafts.leave(draft, last));
  return draft;
}
