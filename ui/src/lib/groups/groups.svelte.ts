// The groups of tags, for the tree, for choices, and for their names.

import { cached, lookup } from "../api/cache";
import type { Page } from "../api/client";
import { perConnection } from "../api/connection.svelte";
import { Problem } from "../api/problem";
import type { Group } from "../api/types";
import { rights } from "../stores/rights.svelte";
import { pathOf } from "./tree";

/** Most groups in one answer of the service. */
const PAGE = 500;
/** Pages that the tree loads. Further groups are found by their name. */
const PAGES = 4;

const page = (after: string | null) => lookup("/groups", { limit: PAGE, after });

interface Loaded {
  groups: readonly Group[];
  byId: ReadonlyMap<number, Group>;
  /** Whether there are more. */
  more: boolean;
}

function load(): Loaded {
  const groups: Group[] = [];
  let more = false;
  for (let number = 1, after: string | null = null; number <= PAGES; number++) {
    const answer: Page<Group> | null = page(after).now;
    groups.push(...(answer?.items ?? []));
    after = answer?.next ?? null;
    more = after !== null;
    if (!more) break;
  }
  return { groups, byId: new Map(groups.map((group) => [group.id, group])), more };
}

class Groups {
  readonly #loaded = $derived(load());

  /** The oldest groups, as many as the tree loads. */
  get all(): readonly Group[] {
    return this.#loaded.groups;
  }

  /** Whether there are groups that the token sees. It does not load them all. */
  get any(): boolean {
    return rights.seesGroups && (lookup("/groups", { limit: 1 }).now?.items.length ?? 0) > 0;
  }

  /** Whether there are more than these. */
  get more(): boolean {
    return this.#loaded.more;
  }

  /** Whether the first groups are loaded. */
  get known(): boolean {
    return page(null).now !== null;
  }

  /** A group; `null` until it is loaded, or if there is none. */
  of(id: number | null): Group | null {
    if (id === null) return null;
    return this.#loaded.byId.get(id) ?? (this.known ? cached("/groups/{id}", { id }).now : null);
  }

  /** Whether there is no such group for the token. It is false until that is known. */
  isGone(id: number): boolean {
    if (!this.known || this.#loaded.byId.has(id)) return false;
    const { failure } = cached("/groups/{id}", { id });
    return failure instanceof Problem && failure.status === 404;
  }

  /** A group with those above it, the one at the top first. */
  path(id: number | null): Group[] {
    return pathOf((one) => this.of(one), id);
  }

  name(id: number | null): string {
    return id === null ? "" : (this.of(id)?.name ?? `Group ${id}`);
  }
}

export const groups = perConnection(() => new Groups());
