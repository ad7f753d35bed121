// The macros that the editor completes.

export const macros: [name: string, label: string, about: string][] = [
  ["tag:title", "Tag title", "the tag's title"],
  ["tag:name", "Tag name", "the tag's name"],
  ["tag:attribute:", "Attribute", "an attribute of the tag"],
  ["tag:data:", "Data", "data of the tag"],
  ["tag:variable:", "Variable", "a variable of the tag; visitors can change it"],
  ["tag:id", "Tag number", "the tag's number"],
  ["tag:slug", "Slug", "the tag's part of its URL"],
  ["group:name", "Group name", "the name of the tag's group"],
  ["product:name", "Product name", "the name of the product above the tag"],
  ["product:code", "Product code", "the product's SKU"],
  ["product:gtin", "GTIN", "the product's GTIN"],
  ["batch:name", "Batch name", "the name of the batch above the tag"],
  ["batch:code", "Lot", "the batch's lot"],
  ["inlay:uid", "UID", "the UID of the inlay"],
  ["query:", "Parameter", "a parameter of the visitor's URL; visitors can change it"],
  ["interaction:rk", "Rolling key", "the rolling key"],
  ["interaction:id", "Interaction number", "the interaction's number"],
  ["interaction:counter", "Counter", "the counter of the inlay's code"],
  ["interaction:time", "Time of the tap", "time of the tap, in Unix seconds"],
  ["interaction:tech:value", "Scan letter", "n (NFC), q (QR code) or u (URL)"],
  ["interaction:tech:name", "Scan method", "NFC, QR-Code or URL"],
  ["interaction:verification:supported", "Verification supported", "whether the tag can be verified"],
  ["interaction:verification:result", "Verification result", "true, false, or empty if not checked"],
  ["interaction:tampered", "Seal", "true sealed, false opened, empty if not known"],
  ["interaction:tamper:result", "Seal", "the same"],
  ["interaction:tamper:supported", "Seal supported", "whether the inlay reports tampering"],
  ["device:country", "Country", "the visitor's country"],
  ["location:lat", "Latitude", "latitude"],
  ["location:lon", "Longitude", "longitude"],
  ["location:venue:name", "Venue name", "the venue's name"],
];

export interface Completion {
  /** Index of the first character to replace. */
  from: number;
  options: [name: string, label: string, about: string][];
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

/**
 * The text with `name` inserted, and the new cursor: before the braces if the name ends in `:`, so
 * that a key can be typed.
 */
export function insert(text: string, cursor: number, from: number, name: string): { text: string; cursor: number } {
  const after = text.slice(cursor).replace(/^[a-z:]*\s*/, "");
  const tail = after.startsWith("}}") ? after : ` }}${after}`;
  const head = text.slice(0, from) + name;
  return { text: head + tail, cursor: name.endsWith(":") ? head.length : head.length + tail.indexOf("}}") + 2 };
}

/** The text with a new macro at the cursor. */
export function inserted(text: string, cursor: number, name: string): { text: string; cursor: number } {
  const head = `${text.slice(0, cursor)}{{ ${name}`;
  return { text: `${head} }}${text.slice(cursor)}`, cursor: name.endsWith(":") ? head.length : head.length + 3 };
}
