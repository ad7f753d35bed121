// Whether closing the window would lose unsaved edits in any form.

import { setUnsaved } from "./desktop";

const forms = new Set<object>();

/** Reports unsaved edits while `changed` is true; called when a form is created. */
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
