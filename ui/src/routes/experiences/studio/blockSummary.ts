// A block in one line, for the outline of a page.

import type { Block } from "../../../lib/api/types";
import { nameOf } from "../content";
import { inWords } from "../macroWords";
import { sentence } from "../whenWords";

/** The longest summary, because the row would cut off more. */
const MOST = 120;

export function summary(block: Block): string {
  const text = inWords(words(block)).replaceAll(/\s+/g, " ").trim();
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
      return `If ${sentence(block.when)}, show ${listed(block.blocks)}${block.otherwise?.length ? `; otherwise ${listed(block.otherwise)}` : ""}`;
    default:
      return "";
  }
}

/** The first block of a list, and the number of further blocks. */
function listed(blocks: Block[]): string {
  const [first, ...rest] = blocks;
  if (!first) return "nothing";
  const name = nameOf(first.type).toLowerCase();
  const title = first.type === "notice" ? `${name} “${first.title}”` : name;
  return rest.length > 0 ? `${title} and ${rest.length} more` : title;
}
