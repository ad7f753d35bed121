// Whether closing the window would lose something that was typed, in any form.

import { setUnsaved } from "./desktop";

const forms = new Set<object>();

/** Holds the window open as long as `changed` says so; called where a form begins. */
export function tellUnsaved(changed: () => boolean): void {
  $effect(() => {
    const form = {};
    if (changed()) forms.add(form);
    void setUnsaved(forms.size > 0);
    return () => {
      forms.delete(form);
      void setUnsaved(forms.size > 0);
    };
  });
}
