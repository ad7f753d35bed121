// The URL templates, for choices and for their names in lists.

import { get } from "../api/client";
import type { Technology, UrlTemplate } from "../api/types";
import { perConnection } from "../api/connection.svelte";

class Templates {
  all = $state.raw<UrlTemplate[]>([]);

  async load(): Promise<void> {
    this.all = (await get("/url-templates", { limit: 500 })).items;
  }

  of(technology: Technology): UrlTemplate[] {
    return this.all.filter((template) => template.technology === technology);
  }

  find(id: number | null): UrlTemplate | null {
    return this.all.find((template) => template.id === id) ?? null;
  }

  /** The name of a template, or "Tapdesk" for the form without a template. */
  name(id: number | null): string {
    return id === null ? "Tapdesk" : (this.find(id)?.name ?? `URL template ${id}`);
  }
}

export const templates = perConnection(() => new Templates());
