// The properties of a list of blocks. A condition contains further lists: it gets their component,
// because an import of it would be a circle.

import type { Component } from "svelte";
import type { Block } from "../../../lib/api/types";
import type { Pictures } from "./pictures";

export interface BlockListProps {
  blocks: Block[];
  pictures: Pictures;
  /** The name of the list for screen readers: "page", "then". */
  label: string;
  /** Errors of the page's blocks by the service's names: `blocks[0]`. */
  wrong?: Record<string, string>;
  /** Offers to restore a removed block. */
  onremoved: (what: string, restore: () => void) => void;
  depth?: number;
  /** The position of the list in the page, such as `2.otherwise.`. */
  within?: string;
}

export type NestedList = Component<BlockListProps, object, "blocks">;
