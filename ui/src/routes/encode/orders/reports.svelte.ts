// The bureaus' reports that are chosen but not imported yet, by order.

import { SvelteMap } from "svelte/reactivity";
import { perConnection } from "../../../lib/api/connection.svelte";

/** A file is chosen for one service: another service neither shows nor imports it. */
export const reports = perConnection(() => ({ files: new SvelteMap<number, File>() }));
