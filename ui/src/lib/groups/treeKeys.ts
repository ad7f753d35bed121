// The keys of the tree, as in the tree view of the ARIA patterns.

import type { Row } from "./tree";

export interface TreeActs {
  /** The row that has the focus; undefined for the one above all groups. */
  row: Row | undefined;
  /** Its place among the rows; -1 for the one above all groups. */
  at: number;
  isOpen: boolean;
  /** Whether an open row can be closed. The rows of a search cannot. */
  closes: boolean;
  /** Gives the focus to a row: 0 is the one above all groups. */
  go: (place: number) => unknown;
  last: number;
  toggle: (id: number, open: boolean) => unknown;
  choose: () => unknown;
  /** Gives the focus to a group. */
  focus: (id: number | null) => unknown;
  rename: () => unknown;
}

/** Acts on a key; returns whether it was one of the tree's. */
export function pressed(key: string, { row, at, isOpen, closes, go, last, toggle, choose, focus, rename }: TreeActs): boolean {
  const keys: Record<string, () => unknown> = {
    ArrowDown: () => go(at + 2),
    ArrowUp: () => go(at),
    Home: () => go(0),
    End: () => go(last),
    ArrowRight: () => (isOpen ? go(at + 2) : row?.opens && toggle(row.group.id, true)),
    ArrowLeft: () => (isOpen && closes ? toggle(row!.group.id, false) : row && focus(row.level > 1 ? row.group.parent_id : null)),
    Enter: choose,
    " ": choose,
    F2: rename,
  };
  const act = keys[key];
  act?.();
  return act !== undefined;
}
