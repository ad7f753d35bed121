// A list that is fetched page by page, each from where the last one ended.

import { get, Problem, type Page, type Query } from "./api/client";

const PAGE = 100;

export class Pages<T extends { id: number }> {
  count = $state<number | null>(null);
  loading = $state(true);
  /** Why the list cannot be shown. */
  problem = $state<string | null>(null);
  // A long list grows in place: copying it for every page, or watching each of
  // its items, would be felt.
  #items: T[] = [];
  #changes = $state(0);
  #next: string | null = null;
  #query: Query = {};
  #counted = false;
  /** Answers to a former question are dropped. */
  #asked = 0;

  constructor(readonly path: string) {}

  get items(): readonly T[] {
    void this.#changes;
    return this.#items;
  }

  get more(): boolean {
    void this.#changes;
    return this.#next !== null && this.problem === null;
  }

  /** Starts the list anew. */
  async load(query: Query, counted = true): Promise<void> {
    // The number of what another question found is no answer to this one.
    if (JSON.stringify(query) !== JSON.stringify(this.#query)) this.count = null;
    this.#query = query;
    this.#counted = counted;
    const asked = ++this.#asked;
    await this.#fetch(asked, query, (page) => {
      this.#items = page.items;
      this.#next = page.next;
    });
    if (counted) void this.#count(asked);
    else this.count = null;
    // Filters may leave a page empty though others are not.
    while (this.#items.length === 0 && this.more && asked === this.#asked) await this.loadMore();
  }

  /** Says at once that another question is asked, before its answer is fetched. */
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

  /** Puts on top what is new in a list that begins with the newest; answers how many there were. */
  async loadNewer(): Promise<number> {
    const newest = this.#items[0]?.id;
    const before = this.#items.length;
    await this.#fetch(this.#asked, this.#query, (page) => {
      const known = newest === undefined ? -1 : page.items.findIndex((item) => item.id === newest);
      if (known >= 0) this.#items.unshift(...page.items.slice(0, known));
      else {
        this.#items = page.items;
        this.#next = page.next;
      }
    });
    return Math.max(0, this.#items.length - before);
  }

  /** Shows an item as it is now. */
  replace(item: T): void {
    const index = this.#items.findIndex((one) => one.id === item.id);
    if (index < 0) return;
    this.#items[index] = item;
    this.#changes++;
  }

  async reload(): Promise<void> {
    await this.load(this.#query, this.#counted);
  }

  /** Counts all that match. In a long list that takes longer than its first page, which does not wait for it. */
  async #count(asked: number): Promise<void> {
    const page = await get<Page<T>>(this.path, { ...this.#query, limit: 1, count: true }).catch(() => null);
    if (asked === this.#asked) this.count = page?.count ?? null;
  }

  async #fetch(asked: number, query: Query, take: (page: Page<T>) => void): Promise<void> {
    this.loading = true;
    try {
      const page = await get<Page<T>>(this.path, { limit: PAGE, ...query });
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
