// UIDs in the forms that people and programs write.

/** A UID as typed or pasted: with colons and spaces, in either case. `null` if it is invalid. */
export function uidOf(text: string | undefined): string | null {
  const digits = (text ?? "").replaceAll(/[\s:.-]/g, "").toUpperCase();
  return /^([0-9A-F]{8}|[0-9A-F]{14}|[0-9A-F]{20})$/.test(digits) ? digits : null;
}
