// Saves files of the service as they arrive. A long download shows its progress and can be stopped;
// it then leaves no file. An interrupted export is resumed.

import { fetchFile, type FileRequest } from "../api/client";
import { downloadFile, saveFile, type Downloaded } from "../shell/desktop";
import type { Work } from "./works.svelte";

/** Saves a response where the person chooses; `false` if nothing was saved. */
export async function saveDownload(
  name: string,
  file: FileRequest,
  { work, heard }: { work: Work; heard: (progress: Downloaded) => void },
): Promise<boolean> {
  const inShell = downloadFile(name, file.address, file.body ?? null, heard);
  if (inShell) {
    work.onstop = inShell.stop;
    let outcome = await inShell.outcome;
    while (outcome === "broken_off") {
      if (!(await work.goesOn())) return false;
      outcome = await inShell.goOn();
    }
    return outcome === "saved";
  }
  const stop = new AbortController();
  work.onstop = () => stop.abort();
  try {
    return await saveFile(name, await fetchFile(file, heard, stop.signal));
  } catch (error) {
    if (stop.signal.aborted) return false;
    throw error;
  }
}
