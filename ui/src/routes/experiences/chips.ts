// An editable element that shows macros as chips: its stored text, and its caret. An engine can
// place a caret only in text, so each chip has text on both sides: a pad if there is no other,
// which is not stored.

import type { Piece } from "./macroWords";

/** A character without width, which does not occur in people's texts. */
const PAD = "\uFEFF";

/** Marks a line break that lets an engine show the caret on an empty last line. */
const FILLER = "filler";

const isText = (node: Node | undefined): node is Text => node?.nodeType === Node.TEXT_NODE;

const stripped = (text: string): string => text.replaceAll(PAD, "");

/** The stored text of a node. */
function sourceOf(node: Node): string {
  if (isText(node)) return stripped(node.data);
  if (!(node instanceof HTMLElement) || node.dataset.chip === FILLER) return "";
  if (node.dataset.macro !== undefined) return node.dataset.macro;
  return node.tagName === "BR" ? "\n" : source(node);
}

/** The stored text of everything in an element or a part of a document. */
export const source = (root: Node): string => [...root.childNodes].map(sourceOf).join("");

/** Whether the element shows these macros as chips. */
export function shows(root: HTMLElement, pieces: Piece[]): boolean {
  const chips = [...root.querySelectorAll<HTMLElement>("[data-macro]")].map(({ dataset }) => dataset.macro);
  const wanted = pieces.filter(({ label }) => label !== undefined).map(({ text }) => text);
  return chips.length === wanted.length && chips.every((chip, index) => chip === wanted[index]);
}

function chipOf(text: string, label: string): HTMLElement {
  const chip = document.createElement("span");
  chip.dataset.macro = text;
  chip.contentEditable = "false";
  chip.title = text;
  chip.textContent = label;
  return chip;
}

export function show(root: HTMLElement, pieces: Piece[]): void {
  const nodes: Node[] = [];
  for (const { text, label } of pieces) {
    if (label === undefined) nodes.push(document.createTextNode(text));
    else {
      if (!isText(nodes.at(-1))) nodes.push(document.createTextNode(PAD));
      nodes.push(chipOf(text, label));
    }
  }
  if (!isText(nodes.at(-1))) nodes.push(document.createTextNode(PAD));
  const filler = document.createElement("br");
  filler.dataset.chip = FILLER;
  root.replaceChildren(...nodes, filler);
}

/** The caret as an index of the stored text; null if it is outside. */
export function caretIn(root: HTMLElement): number | null {
  const selection = getSelection();
  const node = selection?.focusNode;
  if (!selection || !node || !root.contains(node)) return null;
  let before = 0;
  for (const [index, child] of [...root.childNodes].entries()) {
    if (node === root && index === selection.focusOffset) return before;
    if (child === node && isText(child)) return before + stripped(child.data.slice(0, selection.focusOffset)).length;
    before += sourceOf(child).length;
    if (child.contains(node)) return before;
  }
  return before;
}

/**
 * Whether the caret is at a position where an engine does not allow typing: on a chip, or between
 * two elements.
 */
export function isStray(root: HTMLElement): boolean {
  const selection = getSelection();
  const node = selection?.focusNode;
  return !!selection?.isCollapsed && !!node && root.contains(node) && !(isText(node) && node.parentNode === root);
}

/** Puts the caret into the text at an index of the stored text. */
export function placeCaret(root: HTMLElement, at: number): void {
  let before = 0;
  for (const child of root.childNodes) {
    const length = sourceOf(child).length;
    if (isText(child) && at <= before + length) {
      let offset = 0;
      for (let left = at - before; offset < child.data.length && (left > 0 || child.data[offset] === PAD); offset++)
        if (child.data[offset] !== PAD) left -= 1;
      getSelection()?.collapse(child, offset);
      return;
    }
    before += length;
  }
  getSelection()?.collapse(root, root.childNodes.length);
}

/** The chip that ends (`-1`) or begins (`1`) at an index of the stored text. */
export function chipAt(pieces: Piece[], at: number, side: -1 | 1): { from: number; to: number } | null {
  let from = 0;
  for (const { text, label } of pieces) {
    const to = from + text.length;
    if (label !== undefined && (side < 0 ? to : from) === at) return { from, to };
    from = to;
  }
  return null;
}
