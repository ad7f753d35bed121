/** An SVG picture as a PNG of `size` pixels. */
export async function toPng(svg: string, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const image = new Image(size, size);
  image.src = `data:image/svg+xml;utf8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The QR code could not be drawn.");
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, size, size);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The QR code could not be drawn.");
  return new Uint8Array(await blob.arrayBuffer());
}
