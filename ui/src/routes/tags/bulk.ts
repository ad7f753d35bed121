import { post } from "../../lib/api/client";
import type { TagBulkChange, TagBulkRequest } from "../../lib/api/types";
import { agreeing, count, counted } from "../../lib/ui/format";
import { notices } from "../../lib/frame/notices.svelte";
import { switchedSince } from "../../lib/shell/connection.svelte";
import { works, type Work } from "../../lib/frame/works.svelte";

/** More tags than this need a confirmation: an undo of so many takes a while. */
export const MANY = 300;

/** Tags per request: with more, progress would be coarse and a stop late. */
const PIECE = 5_000;

/** An action in words. */
export interface Words {
  /** While it runs: "Archiving". */
  doing: string;
  /** Afterwards: "archived". */
  done: string;
}

interface Outcome {
  selected: number;
  changed: number;
  undo: TagBulkChange[];
  /** Why it ended early; `null` if it did not. */
  stopped: unknown;
}

/** Sends the requests one after the other, and the rest that each leaves, until all are done or the person stops. */
export async function sendAll(requests: TagBulkRequest[], work: Pick<Work, "done" | "stopping">, send = sendOne): Promise<Outcome> {
  const outcome: Outcome = { selected: 0, changed: 0, undo: [], stopped: null };
  const waiting = [...requests];
  for (let request = waiting.shift(); request && outcome.stopped === null; request = waiting.shift()) {
    if (work.stopping) {
      outcome.stopped = "Stopped. The remaining tags are unchanged.";
      break;
    }
    try {
      const answer = await send(request);
      outcome.selected += answer.done;
      outcome.changed += answer.changed;
      // Undo runs in reverse order.
      outcome.undo.unshift(...answer.undo);
      outcome.stopped = answer.stopped;
      waiting.unshift(...answer.rest);
      work.done += answer.done;
    } catch (error) {
      // If no tag was changed, the failure is the whole result.
      if (outcome.selected === 0) throw error;
      outcome.stopped = error;
    }
  }
  return outcome;
}

const sendOne = (request: TagBulkRequest) => post("/tags/bulk", { ...request, limit: PIECE });

/** Runs an action on `total` tags with progress, and offers undo. */
export async function bulk(request: TagBulkRequest, total: number, words: Words, after: () => Promise<void>): Promise<void> {
  const tags = agreeing(total, "tag", "tags");
  const switched = switchedSince();
  const { selected, changed, undo, stopped } = await works.run(`${words.doing} ${tags}`, total, (work) => sendAll([request], work));
  if (!switched()) await after();
  const undoAll = async () => {
    const back = await works.run(`Undoing: ${words.done} ${tags}`, changed, (work) => sendAll(undo, work));
    await after();
    if (back.stopped) throw back.stopped;
  };
  const rest = selected - changed;
  const already = rest > 0 ? `; ${count(rest)} already ${agreeing(rest, "was", "were")}` : "";
  notices.done(`${counted(changed, "tag")} ${words.done}${already}.`, undo.length > 0 && !switched() ? undoAll : undefined, changed > MANY);
  if (stopped) notices.failed(stopped);
}
