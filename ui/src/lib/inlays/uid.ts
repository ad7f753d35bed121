// UIDs as people and programs write them.

/** A UID as it is typed or pasted: with colons and spaces, in either case. `null` if it is none. */
export function uidOf(text: string | undefined): string | null {
  const digits = (text ?? "").replaceAll(/[\s:.-]/g, "").toUpperCase();
  return /^([0-9A-F]{8}|[0-9A-F]{14}|[0-9A-F]{20})$/.test(digits) ? digits : null;
}
