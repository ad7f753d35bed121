// The drafts of all forms. One with edits stays when its form is left, by a click on
// another row, another screen or another connection, and is there when the form opens
// again. The window asks before it closes on any of them, and before it loads the page again.

import { onDestroy, untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { around } from "./around";
import { Draft } from "./draft.svelte";
import { notices } from "../frame/notices.svelte";

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
      $effect(() => around.unsaved(unsaved));
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
  open<T extends object>(form: Form, stored: () => T, shown = true): Draft<T> {
    const kept = this.#all.get(`${here()} ${form.href}`);
    const draft = (kept?.draft as Draft<T> | undefined) ?? new Draft(stored());
    this.#put(form, draft, (kept?.open ?? 0) + (shown ? 1 : 0));
    return draft;
  }

  /** Takes note that the form of `draft`, which was left, is in the page again. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  shown(form: Form, draft: Draft<any>): void {
    this.#put(form, draft, (this.#all.get(`${here()} ${form.href}`)?.open ?? 0) + 1);
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  #put(form: Form, draft: Draft<any>, open: number): void {
    const connection = here();
    this.#all.set(`${connection} ${form.href}`, { ...form, connection, draft, open });
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

  /** Forgets the drafts of a connection that is removed: nobody can connect there again. */
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

/** Lets the window ask whether to leave the page. */
const ask = (event: Event) => event.preventDefault();

const here = () => around.connection() ?? "";

export const drafts = new Drafts();

/**
 * The draft of the form of this component. `title` names it when the form is left. A dialog whose component stays
 * while it is closed says whether it is `shown`: closed, its form was left.
 */
export function useDraft<T extends object>(title: () => string, href: string, stored: () => T, shown = () => true): Draft<T> {
  let open = untrack(shown);
  const draft = drafts.open({ title: title(), href }, stored, open);
  // The component's properties may be gone by the time it is destroyed.
  let last = title();
  $effect(() => void (last = title()));
  $effect(() => {
    if (shown() === open) return;
    open = !open;
    untrack(() => (open ? drafts.shown({ title: last, href }, draft) : drafts.leave(draft, last)));
  });
  onDestroy(() => open && drafts.leave(draft, last));
  return draft;
}
