// A list that is fetched page by page, each from where the last one ended.

import { get, Problem, type Page, type Query } from "./api/client";

export class Pages<T> {
  items = $state<T[]>([]);
  count = $state<number | null>(null);
  loading = $state(false);
  /** Why the list cannot be shown. */
  problem = $state<string | null>(null);
  #next: string | null = null;
  #query: Query = {};
  /** Answers to a former question are dropped. */
  #asked = 0;

  constructor(readonly path: string) {}

  get more(): boolean {
    return this.#next !== null && this.problem === null;
  }

  /** Starts the list anew. */
  async load(query: Query, counted = true): Promise<void> {
    this.#query = query;
    const asked = ++this.#asked;
    await this.#fetch(asked, { ...query, ...(counted && { count: true }) }, (page) => {
      this.items = page.items;
      this.count = page.count ?? null;
    });
  }

  /** Adds the next page. */
  async loadMore(): Promise<void> {
    if (this.loading || !this.more) return;
    await this.#fetch(this.#asked, { ...this.#query, after: this.#next }, (page) => {
      this.items = [...this.items, ...page.items];
    });
  }

  async reload(): Promise<void> {
    await this.load(this.#query);
  }

  async #fetch(asked: number, query: Query, take: (page: Page<T>) => void): Promise<void> {
    this.loading = true;
    try {
      const page = await get<Page<T>>(this.path, { limit: 100, ...query });
      if (asked !== this.#asked) return;
      take(page);
      this.#next = page.next;
      this.problem = null;
    } catch (error) {
      if (asked === this.#asked) this.problem = error instanceof Problem ? error.message : String(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}
