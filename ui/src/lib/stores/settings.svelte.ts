// The service's settings, for the screens that need one of them.

import { get } from "../api/client";
import type { Settings } from "../api/types";
import { perConnection } from "../api/connection.svelte";

class ServiceSettings {
  all = $state.raw<Settings | null>(null);

  async load(): Promise<void> {
    this.all = await get("/settings");
  }

  /** The tag URL. */
  get tagUrl(): string | null {
    return this.all?.tag_url.value ?? null;
  }
}

export const settings = perConnection(() => new ServiceSettings());
