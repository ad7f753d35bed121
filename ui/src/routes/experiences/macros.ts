// The macros that the editor completes.

export const macros: [name: string, about: string][] = [
  ["interaction:rk", "the rolling key"],
  ["interaction:id", "the interaction's number"],
  ["interaction:time", "time of the tap, in Unix seconds"],
  ["interaction:tech:value", "n (NFC), q (QR code) or u (URL)"],
  ["interaction:tech:name", "NFC, QR-Code or URL"],
  ["interaction:verification:supported", "whether the tag can be verified"],
  ["interaction:verification:result", "true, false, or empty if not checked"],
  ["interaction:tampered", "true sealed, false opened, empty if not known"],
  ["interaction:tamper:result", "the same"],
  ["interaction:tamper:supported", "whether the inlay reports tampering"],
  ["tag:id", "the tag's number"],
  ["tag:name", "the tag's name"],
  ["tag:title", "the tag's title"],
  ["tag:attribute:", "an attribute of the tag"],
  ["tag:data:", "data of the tag"],
  ["tag:variable:", "a variable of the tag; visitors can change it"],
  ["device:country", "the visitor's country"],
  ["location:lat", "latitude"],
  ["location:lon", "longitude"],
  ["location:venue:name", "the venue's name"],
];

export interface Completion {
  /** Index of the first character to replace. */
  from: number;
  options: [name: string, about: string][];
}

/** Completions at the cursor; `null` outside an open macro. */
export function complete(text: string, cursor: number): Completion | null {
  const before = text.slice(0, cursor);
  const open = /\{\{\s*([a-z:]*)$/.exec(before);
  if (!open) return null;
  const begun = open[1] ?? "";
  const options = macros.filter(([name]) => name.startsWith(begun) && name !== begun);
  return options.length > 0 ? { from: cursor - begun.length, options } : null;
}

/** The text with `name` inserted, and the new cursor: before the braces if the name ends in `:` and needs a key. */
export function insert(text: string, cursor: number, from: number, name: string): { text: string; cursor: number } {
  const after = text.slice(cursor).replace(/^[a-z:]*\s*/, "");
  const tail = after.startsWith("}}") ? after : ` }}${after}`;
  const head = text.slice(0, from) + name;
  return { text: head + tail, cursor: name.endsWith(":") ? head.length : head.length + tail.indexOf("}}") + 2 };
}
