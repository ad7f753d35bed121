// Pictures are scaled down before they are stored: a photo of twelve megapixels takes 48 MB once it
// is decoded, and the kiosk would be white until then.

/** The longest side of a stored picture, in pixels: a display of 4K. */
export const LONGEST = 3_840;

/** The size of a picture that fits, with its proportions; `null` if it fits already. */
export function fitting(width: number, height: number): { width: number; height: number } | null {
  const scale = LONGEST / Math.max(width, height);
  return scale >= 1 ? null : { width: Math.round(width * scale), height: Math.round(height * scale) };
}

/** The bytes of a file; of a large photo, those of a smaller one. */
export async function scaledDown(file: File): Promise<Uint8Array<ArrayBuffer>> {
  const original = async () => new Uint8Array(await file.arrayBuffer());
  // A GIF can move, and a video is no picture.
  if (!/^image\/(jpeg|png|webp)$/.test(file.type)) return original();
  // The desktop explains what is wrong with a file that cannot be decoded.
  const picture = await createImageBitmap(file).catch(() => null);
  const size = picture && fitting(picture.width, picture.height);
  if (!picture || !size) return original();
  const canvas = Object.assign(document.createElement("canvas"), size);
  canvas.getContext("2d")?.drawImage(picture, 0, 0, size.width, size.height);
  picture.close();
  const type = file.type === "image/png" ? "image/png" : "image/jpeg";
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, 0.88));
  return blob ? new Uint8Array(await blob.arrayBuffer()) : original();
}
