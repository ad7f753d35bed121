import { beforeEach, expect, test, vi } from "vitest";
import type { Insertion } from "../../lib/readers.svelte";
import { Run } from "./run.svelte";

/** What was done, in its order. */
const order: string[] = [];
const rows: Record<string, unknown>[] = [];
const service = vi.hoisted(() => ({
  record: (): Promise<unknown> => Promise.resolve(null),
  known: {} as object,
  verified: true as boolean | null,
}));
const sheet = {
  id: 1,
  name: "Delivery",
  planned: 2,
  closed: false,
  expected: { tag_url: null, experience_id: null, tag_verified: true, locked: null },
  rows: [],
};

vi.mock("../../lib/names.svelte", () => ({ experiences: { all: [], load: () => Promise.resolve() } }));
vi.mock("../../lib/settings.svelte", () => ({ settings: { tagUrl: "https://tags.example/t", load: () => Promise.resolve() } }));
vi.mock("../../lib/readers.svelte", () => ({ ownReads: {} }));
vi.mock("../../lib/sound", () => ({ play: (tone: string) => order.push(`${tone} sound`) }));
vi.mock("../reader/bench.svelte", () => ({
  know: () => Promise.resolve(service.known),
  readsBetween: () => false,
  send: () => {
    order.push("send");
    return Promise.resolve({ verified: service.verified });
  },
}));
vi.mock("../../lib/api/client", () => ({
  get: () => Promise.resolve(sheet),
  patch: () => Promise.resolve(sheet),
  post: async (_: string, fields: Record<string, unknown>) => {
    order.push("record");
    const row = (await service.record()) as object;
    order.push("recorded");
    rows.push(fields);
    return { ...row, ...fields };
  },
}));

const blank = (insertion: number, uid: string) =>
  ({ state: "inlay", insertion, uid, url: null, lock: "open", message: { kind: "blank" }, sentence: "It is blank." }) as unknown as Insertion;
const inlay = (more: object = {}) =>
  ({
    state: "inlay",
    insertion: 1,
    uid: "04AABBCCDDEE01",
    random_uid: false,
    chip: "ntag424dna",
    codes: { kind: "on" },
    url: "https://tags.example/t/k3v9qa?uid=00&token=00",
    lock: "key",
    message: { kind: "records", records: [] },
    ...more,
  }) as unknown as Insertion;
const known = (check: object) => ({
  tag: { id: 41 },
  inlay: { id: 3, tag_id: 41, technology: "ntag424dna", last_counter: 1 },
  check: { tag_id: 41, inlay_id: 3, uid: "04AABBCCDDEE01", at_tag_url: true, chip: "same", counter: 2, findings: [], steps: [], ...check },
});

async function laid(...insertions: Insertion[]): Promise<Run> {
  const run = new Run("1");
  await run.load();
  for (const insertion of insertions) run.lay(insertion);
  await vi.waitFor(() => expect(order.filter((one) => one.endsWith("sound"))).toHaveLength(insertions.length));
  return run;
}

beforeEach(() => {
  order.length = rows.length = 0;
  let position = 0;
  service.record = () => Promise.resolve({ position: ++position });
  service.known = known({});
  service.verified = true;
});

test("a result is on disk before its sound, and before the next inlay's", async () => {
  const run = await laid(blank(1, "04AABBCCDDEE01"), blank(2, "04AABBCCDDEE02"));
  expect(order).toEqual(["record", "recorded", "bad sound", "record", "recorded", "bad sound"]);
  expect(run.last?.name).toBe("unreadable");
  expect(run.complete).toBe(true);
});

test("a result that could not be recorded is no result: the inlay is laid down again", async () => {
  service.record = () => Promise.reject(new Error("The disk is full."));
  const run = await laid(blank(1, "04AABBCCDDEE01"));
  expect(order).toEqual(["record", "again sound"]);
  expect(run.last).toBe(null);
  expect(run.hint).toBe("Not recorded. The disk is full. Lay the inlay down again.");
  expect(run.sheet?.rows).toEqual([]);
});

test("an inlay that left before it was read is no number of the sheet", async () => {
  const torn = { state: "failed", kind: "removed", text: "It was taken away." } as unknown as Insertion;
  const run = await laid(torn);
  expect(order).toEqual(["again sound"]);
  expect(run.hint).toBe("It was taken away.");
});

test("a good inlay is tapped, recorded and heard", async () => {
  const run = await laid(inlay());
  expect(order).toEqual(["send", "record", "recorded", "good sound"]);
  expect(run.last).toMatchObject({ name: "ok", insertion: 1 });
});

test("what was said of one inlay is gone as soon as the next one lies there", async () => {
  const run = await laid(inlay());
  run.lay(inlay({ insertion: 2, uid: "04AABBCCDDEE02" }));
  expect(run.last).toBe(null);
});

test("what was said is gone when the sheet is closed", async () => {
  const run = await laid(inlay());
  await run.close(true);
  expect(run.last).toBe(null);
});

test("what was said is gone when another inlay lies there after the last one", async () => {
  const whole = await laid(blank(1, "04AABBCCDDEE08"), blank(2, "04AABBCCDDEE09"));
  expect(whole.complete).toBe(true);
  whole.lay(inlay({ insertion: 3 }));
  expect(whole.last).toBe(null);
});

test("a copied URL is loudest, is not tapped, and stands under the UID of its chip", async () => {
  service.known = known({ chip: "copied", at_tag_url: false, findings: [{ kind: "copied_url", text: "It was copied." }] });
  await laid(inlay({ uid: "04112233445566" }));
  expect(order).toEqual(["record", "recorded", "alarm sound"]);
  expect(rows[0]).toMatchObject({ verdict: "copied_url", uid: "04112233445566", reason: "It was copied." });
});

test("a URL that leads elsewhere is not tapped", async () => {
  service.known = known({ at_tag_url: false });
  await laid(inlay({ url: "https://staging.example/t/k3v9qa?uid=00&token=00" }));
  expect(order).toEqual(["record", "recorded", "bad sound"]);
  expect(rows[0]?.verdict).toBe("wrong_url");
});

test("an inlay with a random UID counts once, by the UID of its code, and is not good", async () => {
  service.known = known({ chip: "not_comparable", findings: [{ kind: "not_comparable", text: "A random UID." }] });
  const random = (insertion: number, uid: string) => inlay({ insertion, uid, random_uid: true });
  await laid(random(1, "08112233"), random(2, "08445566"));
  expect(rows.map((row) => [row.verdict, row.uid])).toEqual([
    ["not_comparable", "04AABBCCDDEE01"],
    ["duplicate", "04AABBCCDDEE01"],
  ]);
  expect(order.filter((one) => one === "send")).toHaveLength(1);
});
