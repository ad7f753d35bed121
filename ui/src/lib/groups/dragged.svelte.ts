// Tags that are dragged from their list to a group in the tree.

class Dragged {
  /** Moves them into a group; `null` if none are dragged. */
  move = $state.raw<((into: number) => unknown) | null>(null);
}

export const dragged = new Dragged();
