// Names of experiences by id, for lists of tags.

import { get } from "../api/client";
import type { Experience } from "../api/types";
import { perConnection } from "../api/connection.svelte";

class Experiences {
  all = $state<Experience[]>([]);

  async load(): Promise<void> {
    this.all = (await get("/experiences", { limit: 500 })).items;
  }

  name(id: number | null): string {
    if (id === null) return "";
    return this.all.find((experience) => experience.id === id)?.name ?? `Experience ${id}`;
  }
}

export const experiences = perConnection(() => new Experiences());
