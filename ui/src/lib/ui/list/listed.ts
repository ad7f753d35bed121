// What `List` is given of a list that is fetched page by page.

export interface Listed<T> {
  readonly items: readonly T[];
  readonly loading: boolean;
  readonly problem: string | null;
  readonly more: boolean;
  /** How many there are, if that is known exactly. */
  readonly total: number | null;
  /** The number of rows that further pages are fetched for; `null` if none are. */
  readonly reaching: number | null;
  onretry: () => unknown;
  onmore: () => unknown;
  /** Loads on until there are so many rows; answers whether it was let. */
  onreach: (rows: number) => Promise<boolean>;
  onstop: () => unknown;
}

interface Loaded<T> {
  readonly items: readonly T[];
  readonly loading: boolean;
  readonly problem: string | null;
  readonly more: boolean;
  readonly count: number | null;
  readonly estimated: boolean;
  readonly reaching: number | null;
  retry(): unknown;
  loadMore(): unknown;
  reach(rows: number): Promise<boolean>;
  stop(): void;
}

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
  get total() {
    return pages.estimated ? null : pages.count;
  },
  get reaching() {
    return pages.reaching;
  },
  onretry: () => pages.retry(),
  onmore: () => pages.loadMore(),
  onreach: (rows) => pages.reach(rows),
  onstop: () => pages.stop(),
});
