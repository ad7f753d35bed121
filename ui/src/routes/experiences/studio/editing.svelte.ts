// The block that is being edited, for the outline and the preview. A position is a path in the
// blocks of the page, such as `2.otherwise.0`.

import { createContext } from "svelte";
import type { Block } from "../../../lib/api/types";

export class Editing {
  /** The block that has the focus. */
  current = $state<string | null>(null);
  /** The block that was clicked in the preview, until its editor is open. */
  asked = $state<string | null>(null);

  ask(place: string): void {
    this.current = place;
    this.asked = place;
  }
}

export const [getEditing, setEditing] = createContext<Editing>();

/** The block at a position; undefined if the page has changed since. */
export function blockAt(blocks: Block[], place: string): Block | undefined {
  const [index, part, ...rest] = place.split(".");
  const block = blocks[Number(index)];
  if (part === undefined || block?.type !== "condition") return part === undefined ? block : undefined;
  return blockAt((part === "blocks" ? block.blocks : block.otherwise) ?? [], rest.join("."));
}
