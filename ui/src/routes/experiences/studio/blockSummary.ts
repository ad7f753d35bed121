// A block in one line, for the outline of a page.

import type { Block } from "../../../lib/api/types";
import { counted } from "../../../lib/ui/format";

/** The longest summary: more would be cut off by the row anyway. */
const MOST = 80;

export function summary(block: Block): string {
  const text = words(block).replaceAll(/\s+/g, " ").trim();
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text;
}

function words(block: Block): string {
  switch (block.type) {
    case "heading":
    case "text":
      return block.text;
    case "image":
      return block.alt || "decorative";
    case "notice":
      return block.title;
    case "table":
      return block.rows
        .map(({ key }) => key)
        .filter(Boolean)
        .join(", ");
    case "form":
      return block.fields.map(({ label }) => label).join(", ");
    case "button":
    case "video":
    case "variable_button":
    case "progress":
      return block.label;
    case "condition":
      return counted(block.blocks.length + (block.otherwise?.length ?? 0), "block");
    default:
      return "";
  }
}
