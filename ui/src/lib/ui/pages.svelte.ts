// A list that is fetched page by page, by cursor.

import { createSubscriber } from "svelte/reactivity";
import { atMostEvery } from "../api/atMostEvery";
import { follow } from "../api/following";
import { wordsOf } from "../api/problem";
import type { Page, Query } from "../api/client";
import type { ParametersOf } from "../api/operations";
import { notices } from "../window/notices.svelte";
import { count } from "../format/format";
import { fetchPage, type ItemOf, type ListPath } from "./list/fetchPage";

const PAGE = 100;
/** Most items in one page of the service. */
const MOST = 500;
/**
 * Most rows that are loaded at a time for a position further down: 20 large pages, about a second.
 */
export const FARTHEST = 10_000;
/** The pause before a followed list is loaded again, in milliseconds: changes often come in groups. */
const PAUSE_MS = 200;
/** Most rows of a followed list: a longer one would be loaded too often, and moves under the pointer. */
const FOLLOWED = MOST;

export class Pages<P extends ListPath, T extends { id: number } = ItemOf<P>> {
  count = $state<number | null>(null);
  /** Whether `count` is an estimate: the exact count follows. */
  estimated = $state(false);
  loading = $state(true);
  /** The reason why the list could not be loaded. */
  problem = $state<string | null>(null);
  /** The number of rows that pages are fetched for, one after the other; `null` if none are. */
  reaching = $state<number | null>(null);
  /** When the shown list was requested from its start, in milliseconds since the window was opened. It has all earlier changes. */
  requested = $state(-1);
  // A long list grows in place: copying it for every page, or a signal for each item,
  // would be slow.
  #items: T[] = [];
  #changes = $state(0);
  #next: string | null = null;
  #query: Query = {};
  #counted = false;
  /** Number of the newest query: responses to older ones are dropped. */
  #asked = 0;
  readonly #again = atMostEvery(PAUSE_MS, () => this.#follow());
  readonly #show: () => void;

  /**
   * `identify` adds the id to an item of a list without ids. `follows` loads a short list again
   * after changes, also by others, while a screen shows it.
   */
  constructor(
    readonly path: P,
    private readonly identify: ((item: T) => T) | null = null,
    { follows = false } = {},
  ) {
    const none = () => undefined;
    this.#show = follows ? createSubscriber(() => follow(path, () => ({}), this.#again)) : none;
  }

  get items(): readonly T[] {
    this.#show();
    void this.#changes;
    return this.#items;
  }

  get more(): boolean {
    void this.#changes;
    return this.#next !== null && this.problem === null;
  }

  /** Loads the list from its start, as far as `rows`. */
  async load(query: Partial<ParametersOf<P, "get">>, counted = true, rows = PAGE): Promise<void> {
    // The count belongs to the former query.
    if (JSON.stringify(query) !== JSON.stringify(this.#query)) this.count = null;
    this.#query = query as Query;
    this.#counted = counted;
    this.reaching = null;
    const asked = ++this.#asked;
    const requested = performance.now();
    // All at once: the former rows stay until the last page has arrived, so that nothing moves.
    const start = async () => {
      const page = await this.#page(Math.min(MOST, rows), null);
      while (page.next !== null && page.items.length < rows && asked === this.#asked) {
        const further = await this.#page(Math.min(MOST, rows - page.items.length), page.next);
        page.items.push(...further.items);
        page.next = further.next;
      }
      return page;
    };
    await this.#fetch(asked, start, (page) => {
      this.#items = page.items;
      this.#next = page.next;
      this.requested = requested;
    });
    if (counted) void this.#count(asked);
    else this.count = null;
    // With filters, a page may be empty although later pages are not.
    while (this.#items.length === 0 && this.more && asked === this.#asked) await this.#further(PAGE);
  }

  /** Invalidates count and pending responses, because another query follows. */
  forget(): void {
    this.#asked++;
    this.count = null;
  }

  /** Adds the next page. */
  async loadMore(): Promise<void> {
    if (!this.loading) await this.#further(PAGE);
  }

  /**
   * Loads pages until this number of rows is there, or no more. Returns false if `stop` was called,
   * or another query began.
   */
  async reach(rows: number): Promise<boolean> {
    const asked = this.#asked;
    const wanted = () => this.reaching === rows && asked === this.#asked;
    this.reaching = rows;
    while (wanted() && this.more && this.#items.length < rows) {
      const before = this.#next;
      await this.#further(MOST);
      // It failed, or belongs to another query.
      if (this.#next === before) break;
    }
    const done = wanted();
    if (this.reaching === rows) this.reaching = null;
    return done;
  }

  /** Ends `reach`. */
  stop(): void {
    this.reaching = null;
  }

  /** Adds new items on top of a list that is sorted newest first; returns their number. */
  async loadNewer(): Promise<number> {
    const before = this.#items.length;
    await this.#fetch(
      this.#asked,
      () => this.#page(PAGE, null),
      (page) => {
        // The present newest item, which may differ from that at the request: another response may
        // have arrived.
        const newest = this.#items[0]?.id ?? -1;
        const newer = page.items.filter((item) => item.id > newest);
        if (newer.length < page.items.length) this.#items.unshift(...newer);
        else {
          // There is more than a page of new items. A running request for a further page would
          // continue the former rows.
          this.#asked++;
          this.loading = false;
          this.#items = page.items;
          this.#next = page.next;
        }
      },
    );
    return Math.max(0, this.#items.length - before);
  }

  /** Counts the new items that `loadNewer` would add, at most one page of the service. */
  async countNewer(): Promise<number> {
    const page = await fetchPage(this.path, { ...this.#query, limit: MOST });
    const newest = this.#items[0]?.id ?? -1;
    return (page.items as T[]).filter((item) => item.id > newest).length;
  }

  /** Replaces an item with its current state. */
  replace(item: T): void {
    const index = this.#items.findIndex((one) => one.id === item.id);
    if (index < 0) return;
    this.#items[index] = item;
    this.#changes++;
  }

  /** Repeats the failed request: the next page, if there are rows, or else the list. */
  async retry(): Promise<void> {
    if (this.#items.length === 0) return this.reload();
    this.problem = null;
    this.#changes++;
    await (this.more ? this.loadMore() : this.reload());
  }

  /** Loads the list again, with as many rows as before, so that the position is kept. */
  async reload(): Promise<void> {
    const rows = this.#items.length;
    await this.load(this.#query as Partial<ParametersOf<P, "get">>, this.#counted, Math.min(FARTHEST, Math.max(PAGE, rows)));
    if (rows > FARTHEST) notices.done(`Only the first ${count(FARTHEST)} rows were loaded again.`);
  }

  /** Loads a followed list again. One that was there to its end has further rows, too. */
  async #follow(): Promise<void> {
    const rows = this.#items.length;
    if (this.#asked === 0 || rows > FOLLOWED) return;
    // A response that is on its way may be from before the change.
    if (this.loading) return this.#again();
    const wanted = this.more ? rows : rows + PAGE;
    await this.load(this.#query as Partial<ParametersOf<P, "get">>, this.#counted, wanted);
  }

  /**
   * Counts all matches, separately from the first page, because that takes longer in a long list.
   * For many tags there is an estimate first.
   */
  async #count(asked: number): Promise<void> {
    const ask = async (how: Query) => {
      const page = await fetchPage(this.path, { ...this.#query, limit: 1, count: true, ...how }).catch(() => null);
      if (asked !== this.#asked) return;
      this.estimated = page?.count_is_estimate ?? false;
      this.count = page?.count ?? null;
    };
    await ask(this.path === "/tags" ? { estimate: true } : {});
    if (this.estimated && asked === this.#asked) await ask({});
  }

  async #further(limit: number): Promise<void> {
    if (!this.more) return;
    const after = this.#next;
    await this.#fetch(
      this.#asked,
      () => this.#page(limit, after),
      (page) => {
        // Another page may have arrived first.
        if (this.#next !== after) return;
        this.#items.push(...page.items);
        this.#next = page.next;
      },
    );
  }

  async #page(limit: number, after: string | null): Promise<Page<T>> {
    const page: Page<T> = await fetchPage(this.path, { ...this.#query, limit, after });
    return this.identify ? { ...page, items: page.items.map(this.identify) } : page;
  }

  async #fetch(asked: number, ask: () => Promise<Page<T>>, take: (page: Page<T>) => void): Promise<void> {
    this.loading = true;
    try {
      const page = await ask();
      if (asked !== this.#asked) return;
      take(page);
      this.#changes++;
      this.problem = null;
    } catch (error) {
      if (asked === this.#asked) this.problem = wordsOf(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}
