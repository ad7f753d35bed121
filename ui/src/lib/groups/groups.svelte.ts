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
/** Pages of a list that the tree loads. Further groups are found by their name. */
const PAGES = 4;
/** Most groups that the tree loads at first. */
export const FIRST = PAGE * PAGES;
/** Most open groups whose own groups it loads. */
const OPEN = 200;

/** A page of all groups, or of those directly in one; "none" for those at the top. */
const page = (after: string | null, parent_id?: string) => lookup("/groups", { limit: PAGE, after, ...(parent_id && { parent_id }) });

interface Listed {
  groups: readonly Group[];
  /** Whether there are more. */
  more: boolean;
}

/** All groups, the oldest first, or those directly in one: as many as the tree loads. */
function list(parent_id?: string): Listed {
  const groups: Group[] = [];
  let more = false;
  for (let number = 1, after: string | null = null; number <= PAGES; number++) {
    const answer: Page<Group> | null = page(after, parent_id).now;
    groups.push(...(answer?.items ?? []));
    after = answer?.next ?? null;
    more = after !== null;
    if (!more) break;
  }
  return { groups, more };
}

interface Loaded extends Listed {
  byId: ReadonlyMap<number, Group>;
}

/** The oldest groups. If there are more, also those at the top: the groups in them are loaded once they are open. */
function load(): Loaded {
  const { groups, more } = list();
  const byId = new Map([...groups, ...(more ? list("none").groups : [])].map((group) => [group.id, group]));
  return { groups: [...byId.values()], byId, more };
}

class Groups {
  readonly #loaded = $derived(load());

  /** The groups that the tree loads at first. */
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

  /** These, and the groups in open ones. */
  within(open: ReadonlySet<number>): readonly Group[] {
    if (!this.more) return this.all;
    const found = new Map(this.#loaded.byId);
    // An open group in a closed one is not loaded itself: the groups in it would have no place.
    const left = new Set([...open].slice(-OPEN));
    const loaded = (id: number) => found.has(id) && left.delete(id);
    for (let next = [...left].filter(loaded); next.length > 0; next = [...left].filter(loaded)) {
      for (const id of next) for (const group of list(String(id)).groups) found.set(group.id, group);
    }
    if (rights.limited) return [...found.values()];
    // An old group can be in one that is not loaded. Only for a limited token it is at the top then.
    const has = ({ parent_id }: Group): boolean => parent_id === null || (found.has(parent_id) && has(found.get(parent_id)!));
    return [...found.values()].filter(has);
  }

  /** Whether a group may hold others that are not loaded. It is known of an open one. */
  mayHold({ id, kind }: Group, open: ReadonlySet<number>): boolean {
    return this.more && kind !== "batch" && !(open.has(id) && page(null, String(id)).now !== null);
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
