import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { notices } from "./notices.svelte";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  notices.hold(false);
  notices.shown = [];
  vi.useRealTimers();
});

const texts = () => notices.shown.map(({ text }) => text);

test("a notice disappears after a while, one with undo later, and a failure not at all", () => {
  notices.done("Saved.");
  notices.done("Archived.", async () => undefined);
  notices.failed(new Error("The disk is full."));
  vi.advanceTimersByTime(6_000);
  expect(texts()).toEqual(["Archived.", "The disk is full."]);
  vi.advanceTimersByTime(60_000);
  expect(texts()).toEqual(["The disk is full."]);
});

test("none disappears while somebody is on one of them", () => {
  notices.done("Archived.", async () => undefined);
  notices.hold(true);
  vi.advanceTimersByTime(60_000);
  expect(texts()).toEqual(["Archived."]);
  notices.hold(false);
  expect(texts()).toEqual([]);
});
