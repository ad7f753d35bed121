import { beforeEach, expect, test, vi } from "vitest";
import type { ShellState } from "../../lib/shell/desktop";
import { shell } from "../../lib/shell/shell.svelte";
import { notices } from "../../lib/window/notices.svelte";
import { works } from "../../lib/window/works.svelte";
import { addToTag, createTags } from "./enrol";

vi.mock("../../lib/shell/desktop", () => ({ serviceBase: (connection: string) => `tapdesk://localhost/${connection}` }));

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);
const sent: string[] = [];
/** The titles of the work that was shown during a request. */
const shown = new Set<string>();
let onrequest: (number: number) => void;
let id: number;

beforeEach(() => {
  connect("embedded");
  [sent.length, notices.shown, notices.changes, onrequest, id] = [0, [], [], () => undefined, 0];
  shown.clear();
  vi.stubGlobal("fetch", async (address: string, { method, body }: RequestInit) => {
    const path = address.replace(/^.*\/admin\/v1/, "");
    sent.push(`${method} ${path}${path === "/tags/bulk" ? ` ${String(body)}` : ""}`);
    for (const { title } of works.running) shown.add(title);
    onrequest(sent.length);
    if (path.endsWith("/enrol")) return Response.json({ id: ++id, tag_id: 10 + id });
    if (path === "/inlays/2") return Response.json({ detail: "There is no such inlay." }, { status: 404 });
    return Response.json({ done: 2, changed: 2, undo: [], rest: [], stopped: null });
  });
});

const uids = ["04000000000001", "04000000000002", "04000000000003"];

test.each([1, 2])("tags of the former service are neither undone nor reloaded in another one, switched to at request %i", async (at) => {
  onrequest = (number) => number === at && connect("shop");
  const after = vi.fn(async () => undefined);
  expect(await createTags(uids, null, after)).toEqual([]);
  expect(sent.length).toBe(at);
  expect(after).not.toHaveBeenCalled();
  expect(notices.changes).toEqual([]);
});

test("undo deletes the inlays and then their tags, with progress; an inlay that is already gone is no failure", async () => {
  const after = vi.fn(async () => undefined);
  expect((await createTags(uids, null, after)).map((inlay) => inlay.id)).toEqual([1, 2, 3]);
  [sent.length] = [0];
  await notices.undoOne(notices.changes[0]!);
  const bulk = JSON.stringify({ action: "delete", select: { ids: [[11, 13]] }, limit: 5_000 });
  expect(sent).toEqual(["DELETE /inlays/1", "DELETE /inlays/2", "DELETE /inlays/3", `POST /tags/bulk ${bulk}`]);
  expect([...shown]).toEqual(["Creating tags", "Undoing: created tags"]);
  expect(after).toHaveBeenCalledTimes(2);
});

test("an undo that is stopped says so, can be repeated, and shows the rest", async () => {
  const after = vi.fn(async () => undefined);
  await createTags(uids, null, after);
  onrequest = () => works.running[0]?.stop();
  await notices.undoOne(notices.changes[0]!);
  expect(sent.slice(3)).toEqual(["DELETE /inlays/1"]);
  expect(notices.shown.at(-1)?.text).toBe("Stopped. The remaining tags and inlays are still there.");
  expect(notices.changes.length).toBe(1);
  expect(after).toHaveBeenCalledTimes(2);
});

test("undo takes a chip off a tag again", async () => {
  await addToTag(uids[0]!, { id: 7, name: "Bottle 41" }, async () => undefined);
  await notices.undoOne(notices.changes[0]!);
  expect(sent).toEqual(["POST /unlisted-chips/04000000000001/enrol", "DELETE /inlays/1"]);
});
