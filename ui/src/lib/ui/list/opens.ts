// The row of a cell: `Opens` links to its pane.

import { createContext } from "svelte";

interface OpeningRow {
  /** The address of its pane; a row without one only has a selection or actions. */
  readonly href: string | undefined;
}

export const [getRow, setRow] = createContext<OpeningRow>();
