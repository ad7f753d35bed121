// The group that a list or the overview is narrowed to, in the address.

import { router } from "../window/router.svelte";

/** Its id; `null` for all groups. */
export const shownGroup = (): number | null => Number(router.place.query.group) || null;
