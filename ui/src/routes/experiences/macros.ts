// Macros as the editor completes them.

export const macros: [name: string, says: string][] = [
  ["interaction:rk", "the rolling key"],
  ["interaction:id", "the interaction's number"],
  ["interaction:time", "when, in Unix seconds"],
  ["interaction:tech:value", "how: n, q or u"],
  ["interaction:tech:name", "how: NFC, QR-Code or URL"],
  ["interaction:verification:supported", "whether the tag can be verified"],
  ["interaction:verification:result", "true, false, or empty where not checked"],
  ["tag:id", "the tag's number"],
  ["tag:name", "the tag's name"],
  ["tag:title", "the tag's title"],
  ["tag:attribute:", "an attribute of the tag"],
  ["tag:data:", "data of the tag"],
  ["tag:variable:", "a variable of the tag: strangers may write it"],
  ["device:country", "the visitor's country"],
  ["location:lat", "latitude"],
  ["location:lon", "longitude"],
  ["location:venue:name", "the venue's name"],
];

export interface Completion {
  /** Where the text to be replaced begins. */
  from: number;
  options: [name: string, says: string][];
}

/** What could stand at the cursor, where it is inside an open macro. */
export function complete(text: string, cursor: number): Completion | null {
  const before = text.slice(0, cursor);
  const open = /\{\{\s*([a-z:]*)$/.exec(before);
  if (!open) return null;
  const begun = open[1] ?? "";
  const options = macros.filter(([name]) => name.startsWith(begun) && name !== begun);
  return options.length > 0 ? { from: cursor - begun.length, options } : null;
}

/** The text with `name` put in, and where the cursor goes: a name that ends in `:` waits for its key. */
export function insert(text: string, cursor: number, from: number, name: string): { text: string; cursor: number } {
  const after = text.slice(cursor).replace(/^[a-z:]*\s*/, "");
  const tail = after.startsWith("}}") ? after : ` }}${after}`;
  const head = text.slice(0, from) + name;
  return { text: head + tail, cursor: name.endsWith(":") ? head.length : head.length + tail.indexOf("}}") + 2 };
}
