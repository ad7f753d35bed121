import { expect, test } from "vitest";
import { OwnReads } from "./ownReads";

const uid = "04DE5F1EACC040";

function store(): Pick<Storage, "getItem" | "setItem"> {
  const texts = new Map<string, string>();
  return { getItem: (key) => texts.get(key) ?? null, setItem: (key, text) => void texts.set(key, text) };
}

/** Reads with known counters, as with the plain mirror. */
function plain(reads: OwnReads, ...counters: number[]): void {
  for (const counter of counters) {
    reads.read(uid);
    reads.at(uid, counter);
  }
}

test("a gap that our own reads made is explained, and another one is not", () => {
  const reads = new OwnReads(store());
  plain(reads, 3, 4, 5);
  expect(reads.explain(uid, 2, 5)).toBe(true);
  expect(reads.explain(uid, 1, 5)).toBe(false);
  expect(reads.explain(uid, 2, 7)).toBe(false);
  expect(reads.explain("04AABBCCDDEE01", 2, 5)).toBe(false);
});

test("reads that were torn or hide their counter count right before the next known one", () => {
  const reads = new OwnReads(store());
  plain(reads, 3);
  reads.read(uid);
  reads.read(uid);
  plain(reads, 6);
  expect(reads.explain(uid, 3, 6)).toBe(true);
  plain(reads, 9);
  expect(reads.explain(uid, 6, 9)).toBe(false);
});

test("a torn read explains no more than one missing counter", () => {
  const reads = new OwnReads(store());
  plain(reads, 3);
  reads.read(uid);
  plain(reads, 9);
  expect(reads.explain(uid, 3, 9)).toBe(false);
  expect(reads.explain(uid, 7, 9)).toBe(true);
});

test("a chip that was encoded again starts a new row", () => {
  const reads = new OwnReads(store());
  plain(reads, 8, 9, 10);
  plain(reads, 1);
  plain(reads, 11);
  expect(reads.explain(uid, 7, 11)).toBe(false);
});

test("they are kept over a restart, and what cannot be read of them is none", () => {
  const storage = store();
  plain(new OwnReads(storage), 3, 4);
  expect(new OwnReads(storage).explain(uid, 2, 4)).toBe(true);
  storage.setItem("own-reads", "{");
  expect(new OwnReads(storage).explain(uid, 2, 4)).toBe(false);
});

test("only the chips that were read last are remembered", () => {
  const storage = store();
  const reads = new OwnReads(storage);
  plain(reads, 1, 2);
  for (let chip = 0; chip < 2_000; chip++) reads.read(String(chip));
  expect(reads.explain(uid, 0, 2)).toBe(false);
  expect((JSON.parse(storage.getItem("own-reads") ?? "") as unknown[]).length).toBe(2_000);
});
