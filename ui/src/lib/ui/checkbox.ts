// A checkbox that takes effect at once, without a button that saves.

import { notices } from "../window/notices.svelte";

/**
 * Calls `change` with the new value; for `onchange`. If that is refused, reports the reason and
 * shows `stored` again.
 */
export const atOnce = (stored: () => boolean, change: (checked: boolean) => Promise<unknown>) => async (event: Event) => {
  const box = event.currentTarget as HTMLInputElement;
  try {
    await change(box.checked);
  } catch (error) {
    box.checked = stored();
    notices.failed(error);
  }
};
