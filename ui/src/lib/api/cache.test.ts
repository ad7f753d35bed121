import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cached, lookup } from "./cache";
import { announceEvent, announceWrite } from "./changes";
import type { LiveEvent } from "./types";

beforeEach(() => void vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ id: 1 })));
afterEach(() => vi.restoreAllMocks());

test.each([
  ["/submissions/1", true],
  ["/submissions/erase", true],
  ["/interactions/5/visitor", true],
  ["/tags/7/traces", true],
  ["/submissions/1/save", false],
])("%s: a value that no screen shows is forgotten", async (written, erases) => {
  const submission = cached("/submissions/{id}", { id: 1 });
  await submission.load();
  announceEvent({ event: "submission", interaction_id: 5 } as LiveEvent);
  expect(submission.known).not.toBeNull();
  announceWrite(written, erases);
  expect(submission.known).toBeNull();
});

test("a response from before an erasure does not bring the value back", async () => {
  const submission = cached("/submissions/{id}", { id: 2 });
  let late = (_: Response): void => undefined;
  vi.mocked(fetch).mockReturnValueOnce(new Promise((resolve) => (late = resolve)));
  const former = submission.load();
  announceWrite("/submissions/2", true);
  late(Response.json({ id: 2 }));
  await former;
  expect(submission.known).toBeNull();
});

test("the values that are used stay, and the others are forgotten", () => {
  const [used, other] = [cached("/tags/{id}", { id: 0 }), cached("/tags/{id}", { id: -1 })];
  for (let id = 1; id <= 200; id++) {
    cached("/tags/{id}", { id });
    expect(cached("/tags/{id}", { id: 0 })).toBe(used);
  }
  expect(cached("/tags/{id}", { id: -1 })).not.toBe(other);
});

test("a value whose failure is reported is another than one whose screen shows it", () => {
  expect(cached("/settings")).not.toBe(lookup("/settings"));
});

test("the time of a value is that of its response, and not of a failure", async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const tap = cached("/interactions/{id}", { id: 5 });
  await tap.load();
  vi.setSystemTime(1_060_000);
  vi.mocked(fetch).mockResolvedValueOnce(Response.json({ detail: "Locked." }, { status: 503 }));
  await tap.load().catch(() => undefined);
  expect(tap.at).toBe(1_000_000);
  await tap.load();
  expect(tap.at).toBe(1_060_000);
  vi.useRealTimers();
});
