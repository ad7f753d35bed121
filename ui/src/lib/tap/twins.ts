// Taps of a tag without its chip. A virtual inlay on the tag's twin in the simulated world makes
// them, so that neither the tag nor its counts change.

import { get, post, Problem, remove } from "../api/client";
import { Switched } from "../api/problem";
import type { Tag, VirtualInlay, VirtualTapped } from "../api/types";
import { perConnection } from "../api/connection.svelte";
import { ownTaps, timesOf } from "./ownTaps";

/** A virtual inlay, and the version of the tag that its twin copies. */
interface Twin {
  inlay: VirtualInlay;
  of: string;
}

type Copied = Pick<Tag, "id" | "simulated" | "updated_at">;

class Twins {
  /** The twins that this window created, by the tag's id. */
  #made = new Map<number, Twin>();

  /** Makes a tap, whose URL is opened in the background. */
  async tap(tag: Copied): Promise<VirtualTapped> {
    const tapped = await this.#read(tag, true);
    const { url, followed } = tapped;
    if (followed?.interaction_id) {
      const { location, rk } = followed;
      ownTaps.remember(followed.interaction_id, { url, location, rk, took: timesOf(followed) });
    }
    return tapped;
  }

  /** The URL of a tap that has not been opened yet. */
  async url(tag: Copied): Promise<string> {
    return (await this.#read(tag, false)).url;
  }

  async #read(tag: Copied, follow: boolean): Promise<VirtualTapped> {
    const read = async () => post("/simulator/inlays/{id}/tap", { follow }, { id: (await this.#of(tag)).id });
    try {
      return await read();
    } catch (error) {
      // The twin was deleted, or its chip was removed from it.
      if (!(error instanceof Problem) || (error.status !== 404 && error.code !== "no_tag")) throw error;
      this.#made.delete(tag.id);
      return read();
    }
  }

  async #of(tag: Copied): Promise<VirtualInlay> {
    const made = this.#made.get(tag.id);
    if (made?.of === tag.updated_at || (made && tag.simulated)) return made.inlay;
    if (made) await forget(made.inlay);
    const inlay = (tag.simulated && (await chipOf(tag.id))) || (await post("/simulator/inlays", { tag_id: tag.id }));
    this.#made.set(tag.id, { inlay, of: tag.updated_at });
    return inlay;
  }
}

/** The virtual inlay of a simulated tag. */
const chipOf = async (tagId: number) => (await get("/simulator/inlays", { limit: 500 })).items.find((one) => one.tag_id === tagId);

/** Deletes a twin that is no longer a copy. It may already be gone. */
async function forget({ id, tag_id }: VirtualInlay): Promise<void> {
  await remove("/simulator/inlays/{id}", { id }).catch(goneAlready);
  if (tag_id !== null) await remove("/tags/{id}", { id: tag_id }).catch(goneAlready);
}

/** In another service, ids mean other things: nothing more is sent after a switch. */
function goneAlready(error: unknown): void {
  if (error instanceof Switched) throw error;
}

export const twins = perConnection(() => new Twins());
