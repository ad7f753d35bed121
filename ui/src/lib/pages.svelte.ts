// A list that is fetched page by page, by cursor.

import { get, Problem, type Page, type Query } from "./api/client";
import type { AnswerOf, ParametersOf, PathOf } from "./api/operations";

const PAGE = 100;
/** The most that the service answers in one page. */
const MOST = 500;

/** The lists that the service answers page by page. */
type ListPath = { [P in PathOf<"get">]: AnswerOf<P, "get"> extends Page<{ id: number }> ? P : never }[PathOf<"get">];
type ItemOf<P extends ListPath> = AnswerOf<P, "get"> extends { items: (infer Item)[] } ? Item & { id: number } : never;

/** One page; the types of its parameters and items are those of the list. */
const fetchPage = get as unknown as (path: string, query: Query) => Promise<Page<never>>;

export class Pages<P extends ListPath, T extends { id: number } = ItemOf<P>> {
  count = $state<number | null>(null);
  /** Whether `count` is an estimate: the exact count follows. */
  estimated = $state(false);
  loading = $state(true);
  /** Why the list could not be loaded. */
  problem = $state<string | null>(null);
  // A long list grows in place: copying it for every page, or a signal for each item,
  // would be slow.
  #items: T[] = [];
  #changes = $state(0);
  #next: string | null = null;
  #query: Query = {};
  #counted = false;
  /** Number of the newest query: responses to older ones are dropped. */
  #asked = 0;

  constructor(readonly path: P) {}

  get items(): readonly T[] {
    void this.#changes;
    return this.#items;
  }

  get more(): boolean {
    void this.#changes;
    return this.#next !== null && this.problem === null;
  }

  /** Loads the list from its start. */
  async load(query: Partial<ParametersOf<P, "get">>, counted = true, limit = PAGE): Promise<void> {
    // The count belongs to the former query.
    if (JSON.stringify(query) !== JSON.stringify(this.#query)) this.count = null;
    this.#query = query as Query;
    this.#counted = counted;
    const asked = ++this.#asked;
    await this.#fetch(asked, { ...this.#query, limit }, (page) => {
      this.#items = page.items;
      this.#next = page.next;
    });
    if (counted) void this.#count(asked);
    else this.count = null;
    // Filters may leave a page empty though others are not.
    while (this.#items.length === 0 && this.more && asked === this.#asked) await this.loadMore();
  }

  /** Invalidates count and pending responses, because another query follows. */
  forget(): void {
    this.#asked++;
    this.count = null;
  }

  /** Adds the next page. */
  async loadMore(): Promise<void> {
    if (this.loading || !this.more) return;
    await this.#fetch(this.#asked, { ...this.#query, after: this.#next }, (page) => {
      this.#items.push(...page.items);
      this.#next = page.next;
    });
  }

  /** Adds new items on top of a list that is sorted newest first; returns their number. */
  async loadNewer(): Promise<number> {
    const before = this.#items.length;
    await this.#fetch(this.#asked, this.#query, (page) => {
      // What is on top now, not when this was asked: another answer may have come since.
      const newest = this.#items[0]?.id ?? -1;
      const newer = page.items.filter((item) => item.id > newest);
      if (newer.length < page.items.length) this.#items.unshift(...newer);
      else {
        // More than a page is new. A further page under way would follow upon the former rows.
        this.#asked++;
        this.loading = false;
        this.#items = page.items;
        this.#next = page.next;
      }
    });
    return Math.max(0, this.#items.length - before);
  }

  /** Counts the new items that `loadNewer` would add; at most what the service answers in one page. */
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

  /** Tries again what failed: the next page, if there are rows, or else the list. */
  async retry(): Promise<void> {
    if (this.#items.length === 0) return this.reload();
    this.problem = null;
    this.#changes++;
    await (this.more ? this.loadMore() : this.reload());
  }

  /** Loads the list again, as far as it was loaded, so that the place in it is kept. */
  async reload(): Promise<void> {
    const limit = Math.min(MOST, Math.max(PAGE, this.#items.length));
    await this.load(this.#query as Partial<ParametersOf<P, "get">>, this.#counted, limit);
  }

  /** Counts all matches, apart from the first page: in a long list the count takes longer. Of many tags there is an estimate first. */
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

  async #fetch(asked: number, query: Query, take: (page: Page<T>) => void): Promise<void> {
    this.loading = true;
    try {
      const page = await fetchPage(this.path, { limit: PAGE, ...query });
      if (asked !== this.#asked) return;
      take(page);
      this.#changes++;
      this.problem = null;
    } catch (error) {
      if (asked === this.#asked) this.problem = error instanceof Problem ? error.message : String(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}

/** What `List` is given of a list. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly loading: boolean;
  readonly problem: string | null;
  readonly more: boolean;
  onretry: () => unknown;
  onmore: () => unknown;
}

type Loaded<T> = Pick<Listed<T>, "items" | "loading" | "problem" | "more"> & { retry(): unknown; loadMore(): unknown };

/** The properties of `List` for these pages: each is read when it is looked at, not all of them with each. */
export const listed = <T>(pages: Loaded<T>): Listed<T> => ({
  get items() {
    return pages.items;
  },
  get loading() {
    return pages.loading;
  },
  get problem() {
    return pages.problem;
  },
  get more() {
    return pages.more;
  },
  onretry: () => pages.retry(),
  onmore: () => pages.loadMore(),
});
