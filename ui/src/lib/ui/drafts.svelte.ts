// The drafts of all forms. A draft with edits stays when its form is left by a click on another
// row, screen or connection, and is back when the form opens again. If there are any, the window
// asks before it closes or reloads the page.

import { onDestroy, untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { around } from "../window/around";
import { Draft } from "./draft.svelte";
import { notices } from "../window/notices.svelte";

/** A form with its place. */
export interface Form {
  /** In words: "Bottle 41, location". */
  title: string;
  /** The address of its screen, with the part that shows it. */
  href: string;
}

interface Kept extends Form {
  connection: string;
  // The members differ from form to form, and this code does not use them.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  draft: Draft<any>;
  /** How often its form is in the page: twice for a moment while one replaces another. */
  open: number;
  /** Whether it survives its form even without edits, because background work can add some. */
  lasting: boolean;
}

class Drafts {
  #all = new SvelteMap<string, Kept>();

  constructor() {
    $effect.root(() => {
      const unsaved = $derived(this.unsaved.length > 0);
      $effect(() => around.unsaved(unsaved));
      $effect(() => {
        if (!unsaved) return;
        addEventListener("beforeunload", ask);
        return () => removeEventListener("beforeunload", ask);
      });
    });
  }

  /** Drafts with edits of every connection: closing the window would lose them. */
  get unsaved(): readonly Kept[] {
    return [...this.#all.values()].filter(({ draft }) => draft.changed);
  }

  /** Drafts with edits whose forms were left, of the connected service. */
  get left(): readonly Kept[] {
    return this.unsaved.filter(({ open, connection }) => open === 0 && connection === here());
  }

  /** The draft of a form: the one that was left, or a new one with the values of `stored`. */
  open<T extends object>(form: Form, stored: () => T, shown = true): Draft<T> {
    const kept = this.#all.get(`${here()} ${form.href}`);
    const draft = (kept?.draft as Draft<T> | undefined) ?? new Draft(stored());
    this.#put(form, draft, (kept?.open ?? 0) + (shown ? 1 : 0));
    return draft;
  }

  /** Notes that the form of `draft`, which was left, is in the page again. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  shown(form: Form, draft: Draft<any>, lasting = false): void {
    const kept = this.#all.get(`${here()} ${form.href}`);
    this.#put(form, draft, (kept?.open ?? 0) + 1, lasting || (kept?.lasting ?? false));
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  #put(form: Form, draft: Draft<any>, open: number, lasting = false): void {
    const connection = here();
    this.#all.set(`${connection} ${form.href}`, { ...form, connection, draft, open, lasting });
  }

  /** Notes that the form of `draft` is no longer in the page. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  leave(draft: Draft<any>, title: string): void {
    for (const [key, kept] of this.#all) {
      if (kept.draft !== draft) continue;
      if (kept.open > 1) this.#all.set(key, { ...kept, open: kept.open - 1 });
      else if (!draft.changed) {
        if (kept.lasting) this.#all.set(key, { ...kept, title, open: 0 });
        else this.#all.delete(key);
        draft.closed();
      } else {
        this.#all.set(key, { ...kept, title, open: 0 });
        // "Show" would look for it in the wrong service.
        if (around.connection() !== null && kept.connection !== here())
          notices.done(`${title}: your changes are kept for when you connect there again, but not saved.`);
        else notices.offer(`${title}: your changes are kept, but not saved.`, "Show", () => (location.hash = kept.href));
      }
    }
  }

  /** The drafts with edits of a connection. */
  of(connection: string): readonly Kept[] {
    return this.unsaved.filter((kept) => kept.connection === connection);
  }

  /** Deletes the drafts of a connection that is removed, because nobody can connect to it again. */
  dropAll(connection: string): void {
    for (const [key, kept] of this.#all) {
      if (kept.connection !== connection) continue;
      kept.draft.revert();
      this.#all.delete(key);
    }
  }

  /** Discards the edits of a form that was left. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  drop(draft: Draft<any>): void {
    draft.revert();
    for (const [key, kept] of this.#all) if (kept.draft === draft) this.#all.delete(key);
  }
}

/** Makes the window ask before leaving the page. */
const ask = (event: Event) => event.preventDefault();

const here = () => around.connection() ?? "";

export const drafts = new Drafts();

/**
 * The draft of this component's form. `title` names it when the form is left. A dialog whose
 * component stays while it is closed passes `shown`: when it is closed, its form was left.
 */
export function useDraft<T extends object>(title: () => string, href: string, stored: () => T, shown = () => true): Draft<T> {
  const draft = drafts.open({ title: title(), href }, stored, untrack(shown));
  follow(draft, title, href, shown);
  return draft;
}

/** The same for a draft that survives its form, such as a file that waits for its import. */
export function keepDraft<T extends object>(draft: Draft<T>, title: () => string, href: string, shown = () => true): void {
  follow(draft, title, href, shown, true);
  if (untrack(shown)) drafts.shown({ title: title(), href }, draft, true);
}

/** Tracks whether the form of a draft is in the page. */
function follow<T extends object>(draft: Draft<T>, title: () => string, href: string, shown: () => boolean, lasting = false): void {
  let open = untrack(shown);
  // The component's properties may be gone by the time it is destroyed.
  let last = title();
  $effect(() => void (last = title()));
  $effect(() => {
    if (shown() === open) return;
    open = !open;
    untrack(() => (open ? drafts.shown({ title: last, href }, draft, lasting) : drafts.leave(draft, last)));
  });
  // While a component is destroyed, Svelte shows it the values from before the change that destroys it: a
  // draft that was just reverted would seem edited.
  onDestroy(() => open && queueMicrotask(() => drafts.leave(draft, last)));
}
