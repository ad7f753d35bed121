// The parts of a tap's URL.

export interface UrlPart {
  name: string;
  text: string;
}

const hex = (text: string, digits: number) => new RegExp(`^[0-9a-f]{${digits}}$`, "i").test(text);

/** Host, tag, and the parts of the code that are readable without a key. */
export function partsOf(text: string): UrlPart[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return [{ name: "Text", text }];
  }
  const segments = url.pathname.split("/").filter(Boolean);
  const uid = url.searchParams.get("uid") ?? "";
  const token = url.searchParams.get("token") ?? "";
  const parts: UrlPart[] = [{ name: "Host", text: url.host || url.protocol }];
  if (segments.length > 0) parts.push({ name: "Tag", text: segments.at(-1) ?? "" });
  if (hex(uid, 14) && hex(token, 22)) {
    parts.push({ name: "UID", text: uid.toUpperCase() });
    parts.push({ name: "Counter", text: String(parseInt(token.slice(0, 6), 16)) });
    parts.push({ name: "Code", text: token.slice(6).toUpperCase() });
  } else if (hex(uid, 32) && hex(token, 16)) {
    parts.push({ name: "UID, counter", text: `encrypted: ${uid.toUpperCase()}` });
    parts.push({ name: "Code", text: token.toUpperCase() });
  } else if (uid || token) {
    parts.push({ name: "Malformed code", text: [uid, token].filter(Boolean).join(" ") });
  }
  return parts;
}

/** The mirror of the code; null if the URL contains none. */
export function mirrorOf(text: string | null): "plain" | "encrypted" | null {
  const names = text === null ? [] : partsOf(text).map((part) => part.name);
  if (!names.includes("Code")) return null;
  return names.includes("Counter") ? "plain" : "encrypted";
}

/** The slug: the last segment of the path. */
export const slugOf = (text: string | null) =>
  (text === null ? undefined : partsOf(text).find((part) => part.name === "Tag")?.text) ?? null;

/** The counter of a plain code. */
export function counterOf(text: string | null): number | null {
  const shown = text === null ? undefined : partsOf(text).find((part) => part.name === "Counter");
  return shown ? Number(shown.text) : null;
}

/** A URL without query and fragment. */
export const placeOf = (text: string) => text.split(/[?#]/)[0] ?? text;
