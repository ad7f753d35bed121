// The keys of attributes that an owner uses, for filters and columns. The service counts the values
// of a key, but does not list the keys: they are learned from tags and groups that are shown.

import { perConnection } from "../../lib/api/connection.svelte";
import type { Tag } from "../../lib/api/types";
import { groups } from "../../lib/groups/groups.svelte";
import { kept } from "../../lib/window/kept";

/** Most keys that are kept. More would not fit into a menu. */
const MOST = 40;
/** Loaded tags that are looked at: the tags of one shop are much alike. */
const LOOKED_AT = 200;

const memory = kept("attribute-keys", { keys: [] as string[] });

class AttributeKeys {
  #learned = $state.raw<readonly string[]>(memory.load().keys);

  /** In the order of the alphabet. */
  readonly all: readonly string[] = $derived.by(() => {
    const given = groups.all.flatMap(({ attributes }) => Object.keys(attributes));
    return [...new Set([...this.#learned, ...given])].sort((a, b) => a.localeCompare(b));
  });

  learn(keys: readonly string[]): void {
    const next = [...new Set([...keys, ...this.#learned])].slice(0, MOST);
    if (next.every((key) => this.#learned.includes(key))) return;
    this.#learned = next;
    memory.save({ keys: next });
  }

  learnFrom(tags: readonly Tag[]): void {
    this.learn([...new Set(tags.slice(0, LOOKED_AT).flatMap(({ attributes }) => Object.keys(attributes)))]);
  }
}

export const attributeKeys = perConnection(() => new AttributeKeys());
