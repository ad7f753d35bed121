// What a list is given by its screen.

import type { Snippet } from "svelte";
import type { Selection } from "../selection.svelte";
import type { Column } from "./ListHead.svelte";
import type { Listed } from "./listed";

/** A list that is not fetched page by page has its rows alone. */
type Given<T> = Pick<Listed<T>, "items"> & Partial<Listed<T>>;

export interface ListProps<T> extends Given<T> {
  /** Its name, for screen readers and for the kept place: "Tags". */
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
  selection?: Selection | null;
  sort?: string;
  onsort?: (sort: string) => void;
  /** Number of new rows that wait, so that what is read does not move. */
  waiting?: number;
  onfresh?: () => unknown;
  /** In place of rows, if there are none: what they are for, and the next action. */
  empty: Snippet;
  /** What the list shows: another query begins at its top. */
  query?: string;
  /** Whether somebody reads further down: new rows then wait. */
  reading?: boolean;
  /** The height of a row in pixels, for rows of more than one line. */
  height?: number;
  /** The most rows that it is high, if it does not fill its place. */
  upTo?: number;
}
