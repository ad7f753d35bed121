// The properties of a `List` that is fetched page by page.

export interface Listed<T> {
  readonly items: readonly T[];
  readonly loading: boolean;
  readonly problem: string | null;
  readonly more: boolean;
  /** The number of rows, if it is known exactly. */
  readonly total: number | null;
  /** The number of rows that further pages are fetched for; `null` if none are. */
  readonly reaching: number | null;
  onretry: () => unknown;
  /** Loads the shown rows again after the service was lost. */
  onback: () => unknown;
  onmore: () => unknown;
  /** Loads pages until this number of rows is there. Returns whether it was not stopped. */
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
  reload(): unknown;
  loadMore(): unknown;
  reach(rows: number): Promise<boolean>;
  stop(): void;
}

/** The properties of `List` for these pages: each one is read only when it is used. */
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
  onback: () => pages.reload(),
  onmore: () => pages.loadMore(),
  onreach: (rows) => pages.reach(rows),
  onstop: () => pages.stop(),
});
