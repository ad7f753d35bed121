// The URL templates, for choices and for their names in lists.

import { lookup } from "../api/cache";
import type { Shown } from "../api/loadable";
import type { Technology, UrlTemplate } from "../api/types";

const listed = () => lookup("/url-templates", { limit: 500 });

export const templates = {
  /** Their list, for screens that show whether it could be loaded. */
  get listed(): Shown<unknown> {
    return listed();
  },

  get all(): readonly UrlTemplate[] {
    return listed().now?.items ?? [];
  },

  /** Loads them for code that does not show them. */
  async load(): Promise<readonly UrlTemplate[]> {
    return (await listed().load()).items;
  },

  of(technology: Technology): UrlTemplate[] {
    return this.all.filter((template) => template.technology === technology);
  },

  find(id: number | null): UrlTemplate | null {
    return id === null ? null : (this.all.find((template) => template.id === id) ?? null);
  },

  /** The name of a template, or "Tapdesk" for the form without a template. */
  name(id: number | null): string {
    return id === null ? "Tapdesk" : (this.find(id)?.name ?? `URL template ${id}`);
  },
};
