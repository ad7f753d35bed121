// Takes an inlay off its tag. Screens on both ends of the binding offer it.

import type { Inlay } from "../api/types";
import { ChangedMeanwhile, Resource } from "../ui/resource.svelte";
import { attempt, notices } from "../window/notices.svelte";

/**
 * Unbinds an inlay from the tag that a screen shows it on, with undo. An inlay that somebody else has bound to another
 * tag since stays there, and the person reads that. `onchanged` loads again the values that the screen shows.
 */
export const unbind = ({ id, uid, tag_id: from }: Inlay, onchanged: () => Promise<void>) =>
  attempt(async () => {
    const inlay = new Resource("/inlays/{id}", { id });
    const { tag_id: now } = await inlay.load();
    if (now === from) {
      const saved = await inlay.save({ tag_id: null });
      const undo = async () => {
        await inlay.undo(saved, { tag_id: from });
        await onchanged();
      };
      notices.done("Inlay unbound.", undo, { about: uid });
    }
    await onchanged();
    if (now !== from && now !== null)
      throw new ChangedMeanwhile(`Somebody else bound inlay ${uid} to another tag in the meantime. It stays there.`);
  });
