// Tooltips of actions: the name, and the key of the same action.

import { keyNames } from "./keyNames";
import { singleKeys } from "./singleKeys.svelte";

/** For example "New tag (n)"; only the name if the key is turned off. */
export const withKey = (name: string, keys: string): string => (singleKeys.allows(keys) ? `${name} (${keyNames(keys).join(" ")})` : name);
