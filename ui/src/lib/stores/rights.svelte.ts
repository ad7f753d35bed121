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

  /** Whether the token is limited to some experiences or groups. */
  get limited(): boolean {
    return Boolean(this.token?.experience_ids ?? this.token?.group_ids);
  }

  /** Whether the token can see groups: one that is limited to experiences sees none. */
  get seesGroups(): boolean {
    return !this.token?.experience_ids;
  }

  /** The group of a token that is limited to one, where it creates things; `null` for others. */
  get onlyGroup(): number | null {
    const [only = null, another] = this.token?.group_ids ?? [];
    return another === undefined ? only : null;
  }

  /** Whether the token is limited to several groups, so that a group has to be chosen for what it creates. */
  get choosesGroup(): boolean {
    return (this.token?.group_ids?.length ?? 0) > 1;
  }
}

export const rights = perConnection(() => new Rights());
