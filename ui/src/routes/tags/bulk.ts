import { post } from "../../lib/api/client";
import type { TagBulkChange, TagBulkRequest, TagBulkResult } from "../../lib/api/types";
import { agreeing, count, counted } from "../../lib/format";
import { notices } from "../../lib/notices.svelte";
import { works, type Work } from "../../lib/works.svelte";

/** More tags than this are asked about first, with their number. */
export const MANY = 300;

/** Tags in one request. Larger ones would show too seldom how far it is, and could not be stopped between. */
const PIECE = 5_000;

/** What is done to tags, in words. */
export interface Words {
  /** While it is done: "Archiving". */
  doing: string;
  /** Once it is done: "archived". */
  done: string;
}

interface Outcome {
  selected: number;
  changed: number;
  undo: TagBulkChange[];
  /** Why it ended before its time. */
  stopped: unknown;
}

/** Sends the requests one after the other, each with what it leaves over, until all is done or it is stopped. */
export async function sendAll(requests: TagBulkRequest[], work: Pick<Work, "done" | "stopping">, send = sendOne): Promise<Outcome> {
  const outcome: Outcome = { selected: 0, changed: 0, undo: [], stopped: null };
  const waiting = [...requests];
  for (let request = waiting.shift(); request && outcome.stopped === null; request = waiting.shift()) {
    if (work.stopping) {
      outcome.stopped = "It was stopped here. The other tags are as they were.";
      break;
    }
    try {
      const answer = await send(request);
      outcome.selected += answer.done;
      outcome.changed += answer.changed;
      // What was done last is taken back first.
      outcome.undo.unshift(...answer.undo);
      outcome.stopped = answer.stopped;
      waiting.unshift(...answer.rest);
      work.done += answer.done;
    } catch (error) {
      // Without a tag changed there is nothing but the failure to tell.
      if (outcome.selected === 0) throw error;
      outcome.stopped = error;
    }
  }
  return outcome;
}

const sendOne = (request: TagBulkRequest) => post<TagBulkResult>("/tags/bulk", { ...request, limit: PIECE });

/** Does something to `total` tags, shows how far it is, and offers to undo it. */
export async function bulk(request: TagBulkRequest, total: number, words: Words, after: () => Promise<void>): Promise<void> {
  const tags = agreeing(total, "tag", "tags");
  const { selected, changed, undo, stopped } = await works.run(`${words.doing} ${tags}`, total, (work) => sendAll([request], work));
  await after();
  const takeBack = async () => {
    const back = await works.run(`Undoing: ${words.done} ${tags}`, changed, (work) => sendAll(undo, work));
    await after();
    if (back.stopped) throw back.stopped;
  };
  const rest = selected - changed;
  const already = rest > 0 ? `; ${count(rest)} ${agreeing(rest, "was", "were")} so already` : "";
  notices.done(`${counted(changed, "tag")} ${words.done}${already}.`, undo.length > 0 ? takeBack : undefined, changed > MANY);
  if (stopped) notices.failed(stopped);
}
