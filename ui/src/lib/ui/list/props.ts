// The properties that a screen gives to a list.

import type { Snippet } from "svelte";
import type { Selection } from "../selection.svelte";
import type { Column } from "./ListHead.svelte";
import type { Listed } from "./listed";

/** A list that is not fetched page by page only has its rows. */
type Given<T> = Pick<Listed<T>, "items"> & Partial<Listed<T>>;

export interface ListProps<T> extends Given<T> {
  /** Its name, for screen readers and for the kept position: "Tags". */
  label: string;
  columns: Column[];
  /** The cells of a row. */
  row: Snippet<[T]>;
  /** The address that a row opens; without one, rows only select or act. */
  href?: ((item: T) => string) | undefined;
  /** The name of a row, for its checkbox. */
  name: (item: T) => string;
  /** Buttons of a row, shown while it is looked at. */
  actions?: Snippet<[T]>;
  /** Rows can be dragged to another place: their start, and their end. */
  drag?: { start: (item: T) => void; end: () => void } | null;
  selection?: Selection | null;
  sort?: string;
  onsort?: (sort: string) => void;
  /** The number of new rows that are held back, so that the visible rows do not move. */
  waiting?: number;
  onfresh?: () => unknown;
  /** Shown instead of rows, if there are none: their purpose, and the next action. */
  empty: Snippet;
  /** A key of the shown query: another query starts at the top. */
  query?: string;
  /** Whether the person reads further down, so that new rows are held back. */
  reading?: boolean;
  /** The height of a row in pixels, for rows of more than one line. */
  height?: number;
  /** The largest height in rows, if it does not fill its place. */
  upTo?: number;
}
