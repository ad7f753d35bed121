// What is dragged over the tree: a group, which goes into another or to the top, or tags of the list,
// which go into a group. A closed group opens under it after a moment.

import type { Group } from "../api/types";
import { dragged } from "./dragged.svelte";
import { groups } from "./groups.svelte";
import { isWithin } from "./tree";

/** Milliseconds until a closed group opens. A drag across it does not open it. */
const OPENS_AFTER = 600;

interface Tree {
  /** Moves a group; undefined if the tree only selects. */
  move: () => ((group: Group, into: number | null) => void) | undefined;
  open: (id: number) => void;
}

export class TreeDrag {
  #group = $state.raw<Group | null>(null);
  /** The row that takes what is dragged; undefined if none does. */
  over = $state.raw<number | null | undefined>(undefined);
  #opening: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly tree: Tree) {}

  start = (group: Group): void => void (this.#group = group);

  end = (): void => {
    clearTimeout(this.#opening);
    this.#group = null;
    this.over = undefined;
  };

  leave = (): void => {
    clearTimeout(this.#opening);
    this.over = undefined;
  };

  hover(event: DragEvent, into: number | null): void {
    if (!this.#takes(into)) return void (this.over = undefined);
    event.preventDefault();
    if (this.over === into) return;
    clearTimeout(this.#opening);
    this.over = into;
    if (into !== null) this.#opening = setTimeout(() => this.tree.open(into), OPENS_AFTER);
  }

  drop = (event: DragEvent): void => {
    event.preventDefault();
    const [group, into] = [this.#group, this.over];
    this.end();
    if (into === undefined) return;
    if (group) this.tree.move()?.(group, into);
    else if (into !== null) dragged.move?.(into);
  };

  /** A group goes neither to its present place nor below itself; the top is no place for tags. */
  #takes(into: number | null): boolean {
    if (!this.tree.move()) return false;
    const group = this.#group;
    if (!group) return dragged.move !== null && into !== null;
    return group.parent_id !== into && !isWithin(groups.path(into), group.id);
  }
}
