// The service's settings, for the screens that need one of them.

import { lookup } from "../api/cache";
import type { Settings } from "../api/types";

const stored = () => lookup("/settings");

export const settings = {
  get all(): Settings | null {
    return stored().now;
  },

  /** Loads them for code that does not show them. */
  load: (): Promise<Settings> => stored().load(),

  /** The tag URL. */
  get tagUrl(): string | null {
    return this.all?.tag_url.value ?? null;
  },
};
