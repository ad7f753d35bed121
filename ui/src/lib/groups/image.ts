// The image of a product: its bytes, its changes with undo, and its words.

import { fetchFile, fileAt, get, Problem, putBytes, remove } from "../api/client";
import type { Group } from "../api/types";
import { ChangedMeanwhile } from "../ui/resource.svelte";
import { notices } from "../window/notices.svelte";

/** Largest picture that the service takes, in bytes. */
const IMAGE_MAX = 16 * 1024 * 1024;

/** The files that can be chosen as a picture. */
export const IMAGE_TYPES = "image/png,image/jpeg,image/webp,image/gif";

/** The digest of the image that a group has itself; `null` if it has none, or has that of a group above. */
export const ownDigest = ({ id, image }: Pick<Group, "id" | "image">): string | null => (image?.group_id === id ? image.digest : null);

/** The alternative text of the image: the title of a group, or that of the nearest group above. A group without one has its name. */
export const altOf = (nearest: readonly Pick<Group, "title" | "name">[]): string =>
  nearest.find(({ title }) => title)?.title ?? nearest[0]?.name ?? "";

/** The bytes of a group's image. */
export const imageBytes = async (id: number): Promise<ArrayBuffer> => (await fetchFile(fileAt("/groups/{id}/image", { id }))).buffer;

/** The bytes of a chosen file. Fails in words if the service would not take so many. */
export async function readImage(file: File): Promise<ArrayBuffer> {
  if (file.size > IMAGE_MAX) throw new Error(`${file.name} is larger than 16 MB. Make it smaller, or choose another picture.`);
  return file.arrayBuffer();
}

/** Why a chosen file is refused: the service does not know its name. */
export const refusedImage = (error: unknown, name: string): unknown =>
  error instanceof Problem && error.status === 415 ? new Error(`${name} is no PNG, JPEG, WebP or GIF.`) : error;

/**
 * The digests that restored images had before. The service encodes a restored photograph again, so that it has another
 * digest, and yet an earlier change of it can be undone, too.
 */
const restored = new Map<string | null, string | null>();
const original = (digest: string | null): string | null => restored.get(digest) ?? digest;

/** Stores the image of a product, or none; returns its digest. */
async function store(id: number, bytes: ArrayBuffer | null): Promise<string | null> {
  if (bytes !== null) return ownDigest(await putBytes("/groups/{id}/image", bytes, "application/octet-stream", { id }));
  await remove("/groups/{id}/image", { id });
  return null;
}

/** Gives a product another image, or none, and says so. */
export async function changeImage({ id, name }: Pick<Group, "id" | "name">, bytes: ArrayBuffer | null): Promise<void> {
  const stored = async () => ownDigest(await get("/groups/{id}", { id }));
  const before = await stored();
  const former = before === null ? null : await imageBytes(id);
  const saved = await store(id, bytes);
  const undo = async () => {
    if (original(await stored()) !== original(saved)) {
      throw new ChangedMeanwhile("It was changed again in the meantime. Nothing was undone.");
    }
    const again = await store(id, former);
    if (again !== before) restored.set(again, original(before));
  };
  notices.done(bytes === null ? "Picture removed." : before === null ? "Picture added." : "Picture replaced.", undo, { about: name });
}
