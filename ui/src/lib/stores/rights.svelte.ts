// The rights of the connection's token: screens show only allowed things.

import { get } from "../api/client";
import type { CurrentToken, Scope } from "../api/types";
import { perConnection } from "../api/connection.svelte";

class Rights {
  /** `null` until it is known: everything is shown, and the service decides. */
  token = $state.raw<CurrentToken | null>(null);

  async load(): Promise<void> {
    this.token = null;
    this.token = await get("/tokens/current").catch(() => null);
  }

  may(scope: Scope): boolean {
    const scopes = this.token?.scopes;
    return !scopes || scopes.includes(scope) || scopes.includes("admin");
  }

  /** Whether the token is limited to some experiences. */
  get limited(): boolean {
    return Boolean(this.token?.experience_ids);
  }
}

export const rights = perConnection(() => new Rights());
