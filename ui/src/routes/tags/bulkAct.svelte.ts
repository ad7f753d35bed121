// An action on many tags: a few are changed at once, many after a confirmation with their number.

import type { TagBulkChange, TagSelection } from "../../lib/api/types";
import { bulk, MANY, type Words } from "../../lib/tables/bulk";
import { attempt } from "../../lib/window/notices.svelte";
import { router } from "../../lib/window/router.svelte";
import { bulkFilter } from "./filter";

/** Selected tags. */
export interface Chosen {
  ids: readonly number[];
  /** Whether all tags that match the filters are selected, including those not loaded yet. */
  all: boolean;
  number: number;
  /** The name of a single tag, if it is known. */
  name: string | null;
}

/** Selected tags as the service takes them. All are selected by the filters in the address. */
export const selectOf = ({ ids, all }: Chosen): TagSelection => (all ? { filter: bulkFilter(router.place.query) } : { ids: [...ids] });

type WithoutSelect<T> = T extends unknown ? Omit<T, "select"> : never;
/** A change without the tags that it is for. */
export type TagChange = WithoutSelect<TagBulkChange>;

/** A change that waits for its confirmation. */
export interface Pending {
  change: TagBulkChange;
  /** The number of tags that must be selected; undefined if each is named. */
  expected: number | undefined;
  words: Words;
  verb: string;
  number: number;
  name: string | null;
}

export class BulkAct {
  busy = $state(false);
  pending = $state.raw<Pending | null>(null);

  /** `after` shows the list again. */
  constructor(private readonly after: () => Promise<void>) {}

  start(chosen: Chosen, change: TagChange, verb: string, words: Words): void {
    const { all, number, name } = chosen;
    const asked = { change: { ...change, select: selectOf(chosen) }, expected: all ? number : undefined, words, verb, number, name };
    if (number > MANY) this.pending = asked;
    else void this.run(asked);
  }

  async run({ change, expected, words, number, name }: Pending): Promise<void> {
    this.busy = true;
    const request = { ...change, ...(expected !== undefined && { expected_count: expected }) };
    await attempt(() => bulk(request, number, words, this.after, name));
    this.busy = false;
  }
}
