// Ways to send forms: their button, and Ctrl+Enter in any of their fields. Enter without Ctrl sends
// only a small form: in a large one, the person may not have looked at the other fields.

import { byCommand } from "../window/keyNames";

/** Whether an event is the chord that sends a form. */
const isChord = (event: KeyboardEvent) =>
  event.key === "Enter" && !event.isComposing && !event.altKey && !event.shiftKey && (byCommand ? event.metaKey : event.ctrlKey);

/** Whether Enter has no other meaning in a field: in a combobox it chooses. */
const takesEnter = (field: EventTarget | null) =>
  field instanceof HTMLInputElement && field.role !== "combobox" && !["checkbox", "radio", "file"].includes(field.type);

/** Sends a form like its button. Does nothing while the button is disabled. */
function press(form: HTMLFormElement): void {
  const button = [...form.elements].find((one) => one instanceof HTMLButtonElement && one.type === "submit") as
    HTMLButtonElement | undefined;
  if (!button?.disabled) form.requestSubmit(button);
}

function sendBy(form: HTMLFormElement, submit: () => unknown, enter: boolean) {
  const key = (event: KeyboardEvent) => {
    const field = event.target;
    if (event.key !== "Enter" || event.defaultPrevented || event.isComposing) return;
    if (isChord(event) || (enter && takesEnter(field))) {
      event.preventDefault();
      press(form);
    } else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) event.preventDefault();
  };
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    void submit();
  };
  form.addEventListener("keydown", key);
  form.addEventListener("submit", send);
  return {
    update: (next: () => unknown) => void (submit = next),
    destroy: () => {
      form.removeEventListener("keydown", key);
      form.removeEventListener("submit", send);
    },
  };
}

/** Calls `submit` when the form is sent by its button or the chord, and valid; for `use:`. */
export const byButton = (form: HTMLFormElement, submit: () => unknown) => sendBy(form, submit, false);

/**
 * The same for a small form, which Enter sends, too: all of its fields are visible, and nothing is
 * published by it; for `use:`.
 */
export const byEnter = (form: HTMLFormElement, submit: () => unknown) => sendBy(form, submit, true);

/**
 * Sends the form of a dialog by the chord, wherever in the dialog the focus is. A dialog without a
 * form is not confirmed by it.
 */
export function sendDialog(event: KeyboardEvent): void {
  if (!isChord(event) || event.defaultPrevented) return;
  const form = (event.currentTarget as HTMLElement).querySelector("form");
  if (!form) return;
  event.preventDefault();
  press(form);
}
