/**
 * The URL in the QR code for phones. A path such as "/t/k3v9qa" is one at this computer's present address, and leads nowhere
 * without one.
 */
export const urlOfCode = (code: string | null, address: string | null): string | null =>
  code?.startsWith("/") ? address && `${address}${code}` : code;
