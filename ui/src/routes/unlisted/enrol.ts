// Enrols unlisted chips: their inlays, on a tag or on new ones.

import { post } from "../../lib/api/client";
import { switchedSince } from "../../lib/api/connection.svelte";
import type { Inlay } from "../../lib/api/types";
import { agreeing, counted } from "../../lib/format/format";
import { sendAll } from "../../lib/tables/bulk";
import { eraseInlays, tagDeletions } from "../../lib/tables/undoImport";
import { attempt, notices } from "../../lib/window/notices.svelte";
import { works, type Work } from "../../lib/window/works.svelte";

const enrol = (uid: string, target: { tag_id: number } | { experience_id: number | null }) =>
  post("/unlisted-chips/{uid}/enrol", target, { uid });

/** Puts a chip on a tag, with undo. */
export const addToTag = (uid: string, tag: { id: number; name: string }, after: () => Promise<void>) =>
  attempt(async () => {
    const inlay = await enrol(uid, { tag_id: tag.id });
    const undo = async () => {
      await works.run("Undoing: added to a tag", 1, (work) => eraseInlays([inlay.id], work));
      await after();
    };
    notices.done(`Added to ${tag.name}.`, undo, { about: uid });
    await after();
    return inlay;
  });

/**
 * Creates a tag for each chip, with undo, which deletes the tags and their inlays. Returns the
 * inlays; none if the connection was switched, because their ids belong to the former service.
 */
export async function createTags(uids: readonly string[], experience_id: number | null, after: () => Promise<void>): Promise<Inlay[]> {
  const switched = switchedSince();
  const made: Inlay[] = [];
  const create = async (work: Pick<Work, "done" | "stopping">) => {
    for (const uid of uids) {
      if (work.stopping) break;
      made.push(await enrol(uid, { experience_id }));
      work.done++;
    }
  };
  await attempt(() => works.run(uids.length === 1 ? "Creating a tag" : "Creating tags", uids.length, create));
  if (made.length > 0) {
    const undo = async () => {
      try {
        await deleteCreated(made);
      } finally {
        // If it was stopped halfway, some tags are gone, too.
        if (!switched()) await after();
      }
    };
    notices.done(`${counted(made.length, "tag")} created.`, switched() ? undefined : undo, {
      count: made.length,
      many: (sum) => `${counted(sum, "tag")} created.`,
    });
  }
  if (switched()) return [];
  await after();
  return switched() ? [] : made;
}

/** Deletes inlays and their tags, with progress. */
function deleteCreated(made: readonly Inlay[]): Promise<void> {
  const tags = made.flatMap(({ tag_id }) => (tag_id === null ? [] : [tag_id]));
  const title = `Undoing: created ${agreeing(made.length, "tag", "tags")}`;
  return works.run(title, made.length + tags.length, async (work) => {
    const ids = made.map(({ id }) => id);
    await eraseInlays(ids, work);
    const { stopped } = await sendAll(tagDeletions(tags), work);
    if (stopped) throw stopped;
  });
}
