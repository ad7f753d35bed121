import { expect, test } from "vitest";
import type { TagBulkChange, TagBulkRequest, TagBulkResult } from "../api/types";
import { sendAll } from "./bulk";

const archive = (...ids: number[]): TagBulkChange => ({ action: "status", status: "archived", select: { ids } });
const activate = (...ids: number[]): TagBulkChange => ({ action: "status", status: "active", select: { ids } });
type Some = Partial<Omit<TagBulkResult, "undo" | "rest">> & { undo?: TagBulkChange[]; rest?: TagBulkChange[] };
const answer = (some: Some) =>
  ({
    selected: 0,
    done: 0,
    changed: 0,
    variables_added: 0,
    tags_with_added_variables: 0,
    undo: [],
    rest: [],
    stopped: null,
    ...some,
  }) as TagBulkResult;

/** A service with these responses in order, which records the requests. */
function answers(list: (TagBulkResult | Error)[]) {
  const asked: TagBulkRequest[] = [];
  const send = async (request: TagBulkRequest) => {
    asked.push(request);
    const next = list.shift();
    if (!next || next instanceof Error) throw next ?? new Error("asked too often");
    return next;
  };
  return { asked, send };
}

test("the rest of a piece is sent next, and all of it can be undone", async () => {
  const { asked, send } = answers([
    answer({
      done: 2,
      changed: 2,
      variables_added: 4,
      tags_with_added_variables: 2,
      undo: [activate(1, 2)],
      rest: [archive(3, 4), archive(5)],
    }),
    answer({ done: 2, changed: 1, variables_added: 1, tags_with_added_variables: 1, undo: [activate(4)] }),
    answer({ done: 1, changed: 1, undo: [activate(5)] }),
  ]);
  const work = { done: 0, stopping: false };
  const outcome = await sendAll([archive(1, 2, 3, 4, 5)], work, send);
  expect(asked.slice(1)).toEqual([archive(3, 4), archive(5)]);
  expect(outcome).toMatchObject({ selected: 5, changed: 4, variables: 5, withVariables: 3, stopped: null });
  expect(outcome.undo).toEqual([activate(5), activate(4), activate(1, 2)]);
  expect(work.done).toBe(5);
});

test("after a stop, nothing more is sent, and the changes so far can be undone", async () => {
  const work = { done: 0, stopping: false };
  const first = answer({ done: 2, changed: 2, undo: [activate(1, 2)], rest: [archive(3)] });
  const send = async () => {
    work.stopping = true;
    return first;
  };
  const outcome = await sendAll([archive(1, 2, 3)], work, send);
  expect(outcome.stopped).toMatch(/Stopped/);
  expect(outcome).toMatchObject({ changed: 2, undo: [activate(1, 2)] });
});

test("a failure in the middle is reported, and the changes so far can be undone", async () => {
  const { send } = answers([answer({ done: 2, changed: 2, undo: [activate(1, 2)], rest: [archive(3)] }), new Error("The disk is full.")]);
  const outcome = await sendAll([archive(1, 2, 3)], { done: 0, stopping: false }, send);
  expect(outcome).toMatchObject({ changed: 2, undo: [activate(1, 2)], stopped: new Error("The disk is full.") });
});

test("an error at the beginning is the whole outcome", async () => {
  const { send } = answers([new Error("The selection has 3 tags now, not 2.")]);
  await expect(sendAll([archive(1)], { done: 0, stopping: false }, send)).rejects.toThrow("3 tags now");
});
