// Files that the service makes, saved as they arrive: a long one shows how far
// it is and can be stopped. Stopped, nothing is left behind.

import { fetchFile, type Query, addressOf } from "./api/client";
import { downloadFile, saveFile, type Downloaded } from "./desktop";
import type { Work } from "./works.svelte";

/** Saves what the service answers where the person says; `false` if nothing was saved. */
export async function saveDownload(
  name: string,
  path: string,
  { query = {}, body = null, work, heard }: { query?: Query; body?: unknown; work: Work; heard: (far: Downloaded) => void },
): Promise<boolean> {
  const inShell = downloadFile(name, addressOf(path, query), body, heard);
  if (inShell) {
    work.onstop = inShell.stop;
    return inShell.saved;
  }
  const stop = new AbortController();
  work.onstop = () => stop.abort();
  try {
    return await saveFile(name, await fetchFile(path, query, body, stop.signal, heard));
  } catch (error) {
    if (stop.signal.aborted) return false;
    throw error;
  }
}
