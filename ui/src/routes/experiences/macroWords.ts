// Texts with macros in readable form: each macro is a chip with a name. The grammar is the
// service's: `{{ name || name || "text" }}`, and `\{{` for literal braces.

import { macros } from "./macros";

/** A piece of a text: the owner's own text, or a macro with its source and its readable name. */
export type Piece = { text: string; label?: undefined } | { text: string; label: string };

const OPERAND = String.raw`\s*(?:"(?:[^"\\]|\\.)*"|[A-Za-z0-9_.:\-]+)\s*`;
const EXPRESSION = new RegExp(String.raw`\{\{(${OPERAND}(?:\|\|${OPERAND})*)\}\}`, "y");

/** The name of one operand; null if it is neither a macro nor a text. */
function operandLabel(operand: string): string | null {
  if (operand.startsWith('"')) return `“${operand.slice(1, -1).replaceAll(/\\(.)/g, "$1")}”`;
  for (const [name, label] of macros) {
    if (operand === name && !name.endsWith(":")) return label;
    if (name.endsWith(":") && operand.startsWith(name) && operand.length > name.length)
      return `${label} ${operand.slice(name.length).replaceAll("_", " ")}`;
  }
  return null;
}

/** The name of an expression: "Tag title, or name". */
function labelOf(inner: string): string | null {
  const operands = [...inner.matchAll(/"(?:[^"\\]|\\.)*"|[^\s|"]+/g)].map(([operand]) => operandLabel(operand));
  if (operands.some((label) => label === null)) return null;
  const [first, ...rest] = operands as [string, ...string[]];
  const kind = `${first.split(" ")[0]} `;
  return [first, ...rest.map((label) => `or ${label.startsWith(kind) ? label.slice(kind.length) : label}`)].join(", ");
}

/** The pieces of a text. A macro that contains `caret` stays text, because it is being typed. */
export function pieces(text: string, caret: number | null = null): Piece[] {
  const found: Piece[] = [];
  let plain = "";
  for (let at = 0; at < text.length;) {
    if (text.startsWith("\\{{", at)) {
      plain += "\\{{";
      at += 3;
      continue;
    }
    EXPRESSION.lastIndex = at;
    const match = EXPRESSION.exec(text);
    const label = match && labelOf(match[1]!);
    const inside = match !== null && caret !== null && caret > at && caret < at + match[0].length;
    if (match && label && !inside) {
      if (plain) found.push({ text: plain });
      plain = "";
      found.push({ text: match[0], label });
      at += match[0].length;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  if (plain) found.push({ text: plain });
  return found;
}

export const hasMacros = (text: string, caret: number | null = null): boolean =>
  pieces(text, caret).some(({ label }) => label !== undefined);

/** The text with the names of its macros. */
export const inWords = (text: string): string =>
  pieces(text)
    .map(({ text: own, label }) => label ?? own)
    .join("");
