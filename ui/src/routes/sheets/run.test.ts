import { beforeEach, expect, test, vi } from "vitest";
import { readers, type Insertion } from "../../lib/reader/readers.svelte";
import { Run } from "./run.svelte";

/** The actions, in order. */
const order: string[] = [];
const rows: Record<string, unknown>[] = [];
const patches: unknown[] = [];
const service = vi.hoisted(() => ({
  record: (): Promise<unknown> => Promise.resolve(null),
  known: {} as object,
  patch: (): Promise<unknown> => Promise.resolve(null),
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

vi.mock("../../lib/stores/names", () => ({ experiences: { load: () => Promise.resolve([]) } }));
vi.mock("../../lib/stores/settings", () => ({
  settings: { load: () => Promise.resolve({ tag_url: { value: "https://tags.example/t" } }) },
}));
vi.mock("../../lib/ui/sound", () => ({ play: (tone: string) => order.push(`${tone} sound`) }));
vi.mock("../../lib/reader/bench.svelte", () => ({
  lookUp: () => Promise.resolve(service.known),
  send: () => {
    order.push("send");
    return Promise.resolve({ verified: service.verified });
  },
}));
vi.mock("../../lib/api/client", () => ({
  get: (_: string, { id }: { id: number }) => (id === 41 ? Promise.resolve({ id, name: "Bottle 41" }) : Promise.reject(new Error("gone"))),
  getVersion: () => Promise.resolve({ value: sheet, etag: '"1"' }),
  patchVersion: (...call: unknown[]) => {
    patches.push(call);
    return service.patch();
  },
  post: async (_: string, fields: Record<string, unknown>) => {
    order.push("record");
    const row = (await service.record()) as object;
    order.push("recorded");
    rows.push(fields);
    return { ...row, ...fields };
  },
}));

const blank = (insertion: number, uid: string) =>
  ({
    state: "inlay",
    insertion,
    uid,
    url: null,
    lock: "open",
    message: { kind: "blank" },
    sentence: "It is blank.",
  }) as unknown as Insertion;
const inlay = (more: object = {}) =>
  ({
    state: "inlay",
    insertion: 1,
    uid: "04AABBCCDDEE01",
    random_uid: false,
    original: "unknown",
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

async function tested(...insertions: Insertion[]): Promise<Run> {
  const run = new Run(1);
  await run.load();
  for (const insertion of insertions) run.test(insertion);
  await vi.waitFor(() => expect(order.filter((one) => one.endsWith("sound"))).toHaveLength(insertions.length));
  return run;
}

beforeEach(() => {
  order.length = rows.length = patches.length = 0;
  service.patch = () => Promise.resolve(null);
  let position = 0;
  service.record = () => Promise.resolve({ position: ++position });
  service.known = known({});
  service.verified = true;
});

test("a result is on disk before its sound, and before the next inlay's", async () => {
  const run = await tested(blank(1, "04AABBCCDDEE01"), blank(2, "04AABBCCDDEE02"));
  expect(order).toEqual(["record", "recorded", "bad sound", "record", "recorded", "bad sound"]);
  expect(run.last?.name).toBe("unreadable");
  expect(run.complete).toBe(true);
});

test("a result that could not be recorded is no result: the inlay is read again", async () => {
  service.record = () => Promise.reject(new Error("The disk is full."));
  const run = await tested(blank(1, "04AABBCCDDEE01"));
  expect(order).toEqual(["record", "again sound"]);
  expect(run.last).toBe(null);
  expect(run.hint).toBe("Not recorded. The disk is full. Place the inlay on the reader again.");
  expect(run.sheet?.rows).toEqual([]);
});

test("an inlay that left before it was read is no number of the sheet", async () => {
  const torn = { state: "failed", kind: "removed", text: "It was taken away." } as unknown as Insertion;
  const run = await tested(torn);
  expect(order).toEqual(["again sound"]);
  expect(run.hint).toBe("It was taken away.");
});

test("a good inlay is tapped, recorded and heard", async () => {
  const run = await tested(inlay());
  expect(order).toEqual(["send", "record", "recorded", "good sound"]);
  expect(run.last).toMatchObject({ name: "ok", insertion: 1 });
});

test("a row names its reader, although the inlay was removed before its verdict", async () => {
  const placed = inlay();
  readers.table = { fault: null, readers: [{ name: "Desk reader", on: placed }] };
  const run = new Run(1);
  await run.load();
  run.test(placed);
  readers.table = { fault: null, readers: [{ name: "Desk reader", on: { state: "nothing" } }] };
  await vi.waitFor(() => expect(rows).toHaveLength(1));
  expect(rows[0]?.reader).toBe("Desk reader");
});

test("the verdict on one inlay is gone as soon as the next one is on the reader", async () => {
  const run = await tested(inlay());
  run.test(inlay({ insertion: 2, uid: "04AABBCCDDEE02" }));
  expect(run.last).toBe(null);
});

test("the last verdict is gone when the sheet is closed, on the version that was seen", async () => {
  const run = await tested(inlay());
  await run.close(true);
  expect(run.last).toBe(null);
  expect(patches).toEqual([["/sheets/{id}", { closed: true }, { id: 1 }, '"1"']]);
});

test("a sheet that somebody else changed is shown as it is, and is not closed over it", async () => {
  const run = await tested();
  service.patch = () => Promise.reject(new Error("It was changed."));
  run.sheet = null;
  await expect(run.close(true)).rejects.toThrow("It was changed.");
  expect(run.sheet).toEqual(sheet);
});

test("the last verdict is gone when another inlay is on the reader after the last one", async () => {
  const whole = await tested(blank(1, "04AABBCCDDEE08"), blank(2, "04AABBCCDDEE09"));
  expect(whole.complete).toBe(true);
  whole.test(inlay({ insertion: 3 }));
  expect(whole.last).toBe(null);
});

test("a copied URL is loudest, is not tapped, and is recorded with the UID of its chip", async () => {
  service.known = known({ chip: "copied", at_tag_url: false, findings: [{ kind: "copied_url", text: "It was copied." }] });
  await tested(inlay({ uid: "04112233445566" }));
  expect(order).toEqual(["record", "recorded", "alarm sound"]);
  expect(rows[0]).toMatchObject({ verdict: "copied_url", uid: "04112233445566", reason: "It was copied." });
});

test("a URL of another host is not tapped", async () => {
  service.known = known({ at_tag_url: false });
  await tested(inlay({ url: "https://staging.example/t/k3v9qa?uid=00&token=00" }));
  expect(order).toEqual(["record", "recorded", "bad sound"]);
  expect(rows[0]?.verdict).toBe("wrong_url");
});

test("an inlay with a random UID counts once, by the UID of its code, and is not good", async () => {
  service.known = known({ chip: "not_comparable", findings: [{ kind: "not_comparable", text: "A random UID." }] });
  const random = (insertion: number, uid: string) => inlay({ insertion, uid, random_uid: true });
  await tested(random(1, "08112233"), random(2, "08445566"));
  expect(rows.map((row) => [row.verdict, row.uid])).toEqual([
    ["not_comparable", "04AABBCCDDEE01"],
    ["duplicate", "04AABBCCDDEE01"],
  ]);
  expect(order.filter((one) => one === "send")).toHaveLength(1);
});

test("a row says the name of its tag, and one whose tag is gone has none", async () => {
  const run = new Run(1);
  await run.load();
  service.known = known({});
  run.test(inlay());
  await vi.waitFor(() => expect(run.names[41]).toBe("Bottle 41"));
  service.known = known({ tag_id: 42 });
  run.test(inlay({ insertion: 2, uid: "04AABBCCDDEE02" }));
  await vi.waitFor(() => expect(rows).toHaveLength(2));
  expect(run.names).toEqual({ 41: "Bottle 41" });
});
