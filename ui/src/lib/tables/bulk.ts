import { post } from "../api/client";
import type { TagBulkChange, TagBulkRequest } from "../api/types";
import { agreeing, count, counted } from "../format/format";
import { addedVariables } from "../tap/addedVariables";
import { notices } from "../window/notices.svelte";
import { switchedSince } from "../api/connection.svelte";
import { works, type Work } from "../window/works.svelte";

/** More tags than this need a confirmation, because undoing so many takes a while. */
export const MANY = 300;

/** Tags per request: with more, progress would be coarse, and stopping slow. */
const PIECE = 5_000;

/** The texts of an action. */
export interface Words {
  /** While it runs: "Archiving". */
  doing: string;
  /** Afterwards: "archived". */
  done: string;
}

interface Outcome {
  selected: number;
  changed: number;
  /** The number of variables that forms added, and the number of tags that got some. */
  variables: number;
  withVariables: number;
  undo: TagBulkChange[];
  /** The error that ended it early; `null` if there was none. */
  stopped: unknown;
}

/**
 * Sends the requests one after the other, and the rest of each, until everything is done or the
 * person stops it.
 */
export async function sendAll(requests: TagBulkRequest[], work: Pick<Work, "done" | "stopping">, send = sendOne): Promise<Outcome> {
  const outcome: Outcome = { selected: 0, changed: 0, variables: 0, withVariables: 0, undo: [], stopped: null };
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
      outcome.variables += answer.variables_added;
      outcome.withVariables += answer.tags_with_added_variables;
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

/**
 * Runs an action on `total` tags with progress, and offers undo. A single tag is called by its
 * `name`, if that is known.
 */
export async function bulk(
  request: TagBulkRequest,
  total: number,
  words: Words,
  after: () => Promise<void>,
  name: string | null = null,
): Promise<void> {
  const tags = agreeing(total, "tag", "tags");
  const switched = switchedSince();
  const done = await works.run(`${words.doing} ${tags}`, total, (work) => sendAll([request], work));
  const { selected, changed, undo, stopped } = done;
  if (!switched()) await after();
  let left = changed;
  const undoAll = async () => {
    const back = await works.run(`Undoing: ${words.done} ${tags}`, left, (work) => sendAll(undo, work));
    await after();
    left -= back.changed;
    if (back.stopped) throw back.stopped;
    if (left === 0) return;
    // The service leaves tags that got another value.
    const others = `${counted(left, "tag")} changed again since and ${agreeing(left, "keeps its new value", "keep their new values")}.`;
    if (left === changed) throw new Error(`Nothing was undone. ${others}`);
    notices.done(others);
  };
  const rest = selected - changed;
  const already = rest > 0 ? `; ${count(rest)} already ${agreeing(rest, "was", "were")}` : "";
  const added = addedVariables(done.variables, done.withVariables);
  const many = (number: number) => `${counted(number, "tag")} ${words.done}.`;
  const one = changed === 1 && total === 1 && name !== null;
  const said = one ? `${name} ${words.done}.` : `${counted(changed, "tag")} ${words.done}${already}.`;
  const text = `${said} ${added}`.trim();
  const how = { stays: changed > MANY, count: changed, ...(already === "" && added === "" ? { many } : {}) };
  notices.done(text, undo.length > 0 && !switched() ? undoAll : undefined, how);
  if (stopped) notices.failed(stopped);
}
