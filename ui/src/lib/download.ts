// Saves files of the service as they arrive. A long download shows its progress and
// can be stopped; it then leaves no file.

import { fetchFile, type Query, addressOf } from "./api/client";
import { downloadFile, saveFile, type Downloaded } from "./desktop";
import type { Work } from "./works.svelte";

/** Saves a response where the person chooses; `false` if nothing was saved. */
export async function saveDownload(
  name: string,
  path: string,
  { query = {}, body = null, work, heard }: { query?: Query; body?: unknown; work: Work; heard: (progress: Downloaded) => void },
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
