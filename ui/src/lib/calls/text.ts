// Values as literals of the languages in which a call is shown. A literal is data wherever it is pasted: quotes,
// backslashes, dollars and ends of a script in it change nothing.

/** A value that the program reads from its environment, because this window does not know it. */
export interface FromEnvironment {
  variable: string;
}

export type Value = string | FromEnvironment;

export const isText = (value: Value): value is string => typeof value === "string";

/** One word of a POSIX shell. */
export const shellWord = (...parts: Value[]): string =>
  parts.map((part) => (isText(part) ? `'${part.replaceAll("'", "'\\''")}'` : `"$${part.variable}"`)).join("");

/** A string of JavaScript, also within a page's script. */
export const javascriptText = (text: string): string =>
  JSON.stringify(text).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

/** A string of Python, which knows every escape of JSON. */
export const pythonText = (text: string): string => JSON.stringify(text).replaceAll("\x7f", "\\x7f");

const PHP_ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"', $: "\\$" };

const isControl = (one: string) => one < " " || one === "\x7f";

const escapedForPhp = (one: string) => PHP_ESCAPES[one] ?? (isControl(one) ? `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}` : one);

/** A string of PHP: in single quotes, unless it has control characters. */
export const phpText = (text: string): string =>
  [...text].some(isControl) ? `"${[...text].map(escapedForPhp).join("")}"` : `'${text.replace(/[\\']/g, "\\$&")}'`;
