// A checkbox that changes something as it is clicked, without a button that saves.

import { notices } from "../frame/notices.svelte";

/** Calls `change` with what was clicked; for `onchange`. If that is refused, says why, and shows what is `stored` again. */
export const atOnce = (stored: () => boolean, change: (checked: boolean) => Promise<unknown>) => async (event: Event) => {
  const box = event.currentTarget as HTMLInputElement;
  try {
    await change(box.checked);
  } catch (error) {
    box.checked = stored();
    notices.failed(error);
  }
};
