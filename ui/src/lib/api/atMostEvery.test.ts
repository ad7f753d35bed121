import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { atMostEvery } from "./atMostEvery";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("many requests are one run in each pause", async () => {
  const work = vi.fn();
  const request = atMostEvery(200, work);
  for (let n = 0; n < 1_000; n++) {
    request();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(work.mock.calls.length).toBeGreaterThanOrEqual(4);
  expect(work.mock.calls.length).toBeLessThanOrEqual(5);
});

test("slow work does not run twice at the same time, and once more for requests meanwhile", async () => {
  const ends: (() => void)[] = [];
  const work = vi.fn(() => new Promise<void>((end) => ends.push(end)));
  const request = atMostEvery(200, work);
  request();
  await vi.advanceTimersByTimeAsync(200);
  for (let n = 0; n < 10; n++) {
    request();
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(work).toHaveBeenCalledTimes(1);
  ends.shift()!();
  await vi.advanceTimersByTimeAsync(200);
  expect(work).toHaveBeenCalledTimes(2);
  ends.shift()!();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(work).toHaveBeenCalledTimes(2);
});
