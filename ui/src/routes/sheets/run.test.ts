import { beforeEach, expect, test, vi } from "vitest";
import type { Insertion } from "../../lib/readers.svelte";
import { Run } from "./run.svelte";

/** What was done, in its order. */
const order: string[] = [];
const record = vi.hoisted(() => ({ answer: (): Promise<unknown> => Promise.resolve(null) }));
const sheet = { id: 1, name: "Delivery", planned: 2, closed: false, expected: { experience_id: null, tag_verified: true, locked: null }, rows: [] };

vi.mock("../../lib/names.svelte", () => ({ experiences: { all: [], load: () => Promise.resolve() } }));
vi.mock("../../lib/sound", () => ({ play: (good: boolean) => order.push(good ? "good sound" : "bad sound") }));
vi.mock("../../lib/api/client", () => ({
  get: () => Promise.resolve(sheet),
  patch: () => Promise.resolve(sheet),
  post: async () => {
    order.push("record");
    const row = await record.answer();
    order.push("recorded");
    return row;
  },
}));

const blank = (insertion: number, uid: string) =>
  ({ state: "inlay", insertion, uid, url: null, lock: "open", message: { kind: "blank" }, sentence: "It is blank." }) as unknown as Insertion;

async function laid(...insertions: Insertion[]): Promise<Run> {
  const run = new Run("1");
  await run.load();
  for (const insertion of insertions) run.lay(insertion);
  await vi.waitFor(() => expect(order.filter((one) => one.endsWith("sound"))).toHaveLength(insertions.length));
  return run;
}

beforeEach(() => {
  order.length = 0;
  let position = 0;
  record.answer = () => Promise.resolve({ position: ++position, uid: null });
});

test("a result is on disk before its sound, and before the next inlay's", async () => {
  const run = await laid(blank(1, "04AABBCCDDEE01"), blank(2, "04AABBCCDDEE02"));
  expect(order).toEqual(["record", "recorded", "bad sound", "record", "recorded", "bad sound"]);
  expect(run.last?.name).toBe("unreadable");
  expect(run.complete).toBe(true);
});

test("a result that could not be recorded is no result: the inlay is laid down again", async () => {
  record.answer = () => Promise.reject(new Error("The disk is full."));
  const run = await laid(blank(1, "04AABBCCDDEE01"));
  expect(order).toEqual(["record", "bad sound"]);
  expect(run.last).toBe(null);
  expect(run.hint).toBe("Not recorded. The disk is full. Lay the inlay down again.");
  expect(run.sheet?.rows).toEqual([]);
});

test("an inlay that left before it was read is no number of the sheet", async () => {
  const torn = { state: "failed", kind: "removed", text: "It was taken away." } as unknown as Insertion;
  const run = await laid(torn);
  expect(order).toEqual(["bad sound"]);
  expect(run.hint).toBe("It was taken away.");
});
