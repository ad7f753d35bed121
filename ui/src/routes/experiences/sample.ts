// A tag for previews while no tag exists: a value for each macro of the content.

const VALUES: [RegExp, string][] = [
  [/sku|article|ref/, "SKU-1041"],
  [/serial|number/, "0041 7730"],
  [/batch|lot/, "2026-A"],
  [/colou?r/, "Red"],
  [/size/, "M"],
  [/years/, "5"],
  [/vintage|year/, "2026"],
  [/until|date|_on$|bought|when/, "May 2026"],
  [/price/, "49.00"],
];

/** A value by the words of its key; if none is known, the key itself, such as "Grape". */
function valueOf(key: string): string {
  const known = VALUES.find(([pattern]) => pattern.test(key));
  const words = key.replaceAll(/[_.-]+/g, " ");
  return known?.[1] ?? words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The properties of one class that the content uses. */
function properties(text: string, kind: "attribute" | "data"): Record<string, string> {
  const keys = [...text.matchAll(new RegExp(`tag:${kind}:([A-Za-z0-9_.\\-]{1,64})`, "g"))].map(([, key]) => key!);
  return Object.fromEntries(keys.map((key) => [key, valueOf(key)]));
}

/** A sample tag for a content. */
export function sampleTag(content: unknown) {
  const text = JSON.stringify(content);
  return { name: "Sample product", title: "Sample product", attributes: properties(text, "attribute"), data: properties(text, "data") };
}
