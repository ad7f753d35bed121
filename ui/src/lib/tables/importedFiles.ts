// The files that this computer imported into the connected service, identified by a digest of their
// bytes.

import { kept } from "../window/kept";

export interface ImportedFile {
  /** SHA-256 of its bytes, in hexadecimal digits. */
  digest: string;
  name: string;
  /** When it was imported, in milliseconds. */
  at: number;
  created: number;
  updated: number;
}

/** Most files that are remembered; older ones are hardly useful. */
const MOST = 200;

const list = kept<{ files: ImportedFile[] }>("imported files", { files: [] });

export async function digestOf(bytes: ArrayBuffer): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The last import of a file with these bytes. */
export const importOf = (digest: string): ImportedFile | null => list.load().files.find((file) => file.digest === digest) ?? null;

/** Remembers an import. An import of the rest of a file replaces that of its beginning. */
export function remember(file: ImportedFile): void {
  save([file, ...list.load().files.filter(({ digest }) => digest !== file.digest)].slice(0, MOST));
}

/** If the window cannot store anything, the import still works. */
function save(files: ImportedFile[]): void {
  try {
    list.save({ files });
  } catch {
    // The next import of this file then asks no question.
  }
}

/** Forgets an import that was undone. */
export function forgetImport(digest: string): void {
  save(list.load().files.filter((file) => file.digest !== digest));
}
