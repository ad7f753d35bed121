// UIDs in the forms that people and programs write.

/** The hex digits of the UID of every chip that can be an inlay. */
export const UID_DIGITS = 14;
/** Those of the cards that a reader can find (ISO/IEC 14443-3). */
export const CARD_UID_DIGITS: readonly number[] = [8, UID_DIGITS, 20];

/** A UID as typed or pasted: with colons and spaces, in either case. `null` if it is invalid. */
export function uidOf(text: string | undefined): string | null {
  const digits = (text ?? "").replaceAll(/[\s:.-]/g, "").toUpperCase();
  return digits.length === UID_DIGITS && /^[0-9A-F]*$/.test(digits) ? digits : null;
}

/** The UID that a reader found, if it is one of an inlay: a random one changes with each read. */
export const uidOfChip = ({ uid, random_uid }: { uid: string | null; random_uid?: boolean }): string | null =>
  uid?.length === UID_DIGITS && !random_uid ? uid : null;
