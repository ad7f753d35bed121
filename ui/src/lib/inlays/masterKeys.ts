// The master keys, for choices and for their names in lists.

import { lookup } from "../api/cache";
import type { MasterKey } from "../api/types";

const listed = () => lookup("/master-keys", { limit: 200 });

export const masterKeys = {
  get all(): readonly MasterKey[] {
    return listed().now?.items ?? [];
  },

  /** The name of a master key, or `fallback` until it is loaded. */
  name(id: number | null, fallback = `Master key ${id}`): string {
    return this.all.find((key) => key.id === id)?.name ?? fallback;
  },
};
