// Forms of many fields. They are saved by their button, never by the Enter key in one
// of their fields: nobody has looked at the others then.

/** Calls `submit` when the form is sent by its button, and valid; for `use:`. */
export function byButton(form: HTMLFormElement, submit: () => unknown) {
  const key = (event: KeyboardEvent) => {
    const field = event.target;
    if (event.key === "Enter" && (field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) event.preventDefault();
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
