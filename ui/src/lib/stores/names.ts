// The experiences, for choices and for their names in lists.

import { lookup } from "../api/cache";
import type { Experience } from "../api/types";
import { rights } from "./rights.svelte";

const listed = () => lookup("/experiences", { limit: 500 });

export const experiences = {
  get all(): readonly Experience[] {
    return listed().now?.items ?? [];
  },

  /** Loads them for code that does not show them. */
  async load(): Promise<readonly Experience[]> {
    return (await listed().load()).items;
  },

  name(id: number | null): string {
    if (id === null) return "";
    const found = this.all.find((experience) => experience.id === id);
    if (found) return found.name;
    // A token that is limited to groups sees no experience, and a number would look like a name.
    return rights.limited ? "an experience that you cannot see" : `Experience ${id}`;
  },
};
