// The keys of attributes that an owner uses, for columns and bulk changes.

import { lookup } from "../../lib/api/cache";
import { demoWorld } from "../../lib/window/demoWorld.svelte";

/** Most keys that are offered, the most used ones. More would not fit into a menu. */
const MOST = 40;

/** In the order of the alphabet; none until they are loaded. */
export function attributeKeys(): readonly string[] {
  const found = lookup("/tags/attributes", { limit: MOST, simulated: demoWorld.simulated, estimate: true });
  return (found.now?.items ?? []).map(({ key }) => key).sort((a, b) => a.localeCompare(b));
}
