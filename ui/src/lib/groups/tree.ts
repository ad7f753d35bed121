// Groups as a tree: the rows that are shown, and the path of each group.

import type { Group } from "../api/types";

export interface Row {
  group: Group;
  /** From 1 at the top. */
  level: number;
  /** Its place among its siblings, from 1, and their number. */
  position: number;
  siblings: number;
  /** Whether it can be opened: it holds groups, or may hold some that are not loaded. */
  opens: boolean;
}

/** The groups that are directly in each group; `null` for the top. */
export type Tree = ReadonlyMap<number | null, readonly Group[]>;

const inOrder = new Intl.Collator("en", { numeric: true });

/** Siblings by name, folders first. A group whose parent is not loaded is at the top. */
export function treeOf(groups: readonly Group[]): Tree {
  const known = new Set(groups.map(({ id }) => id));
  const tree = new Map<number | null, Group[]>();
  for (const group of groups) {
    const parent = group.parent_id !== null && known.has(group.parent_id) ? group.parent_id : null;
    const siblings = tree.get(parent);
    if (siblings) siblings.push(group);
    else tree.set(parent, [group]);
  }
  const folder = ({ kind }: Group) => (kind === "folder" ? 0 : 1);
  for (const siblings of tree.values()) siblings.sort((a, b) => folder(a) - folder(b) || inOrder.compare(a.name, b.name));
  return tree;
}

/** The rows of the tree, with the groups in each open one. `mayHold` is true for a group that may hold some that are not loaded. */
export function rowsOf(
  tree: Tree,
  open: ReadonlySet<number>,
  mayHold: (group: Group) => boolean = () => false,
  parent: number | null = null,
  level = 1,
): Row[] {
  const siblings = tree.get(parent) ?? [];
  return siblings.flatMap((group, index) => {
    const opens = tree.has(group.id) || mayHold(group);
    const row = { group, level, position: index + 1, siblings: siblings.length, opens };
    return open.has(group.id) ? [row, ...rowsOf(tree, open, mayHold, group.id, level + 1)] : [row];
  });
}

/** A group with all above it that are known, the one at the top first; empty if it is not known itself. */
export function pathOf(groupOf: (id: number) => Group | null | undefined, id: number | null): Group[] {
  const path: Group[] = [];
  const isNew = (group: Group) => path.every((one) => one.id !== group.id);
  for (let next = id; next !== null;) {
    const group = groupOf(next);
    if (!group || !isNew(group)) break;
    path.unshift(group);
    next = group.parent_id;
  }
  return path;
}

/** Whether the group with this path is `of`, or is below it: then `of` cannot be moved into it. */
export const isWithin = (path: readonly Group[], of: number): boolean => path.some((group) => group.id === of);
