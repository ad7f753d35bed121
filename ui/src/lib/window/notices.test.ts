import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { notices, undoable } from "./notices.svelte";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  notices.hold(false);
  notices.shown = [];
  notices.changes = [];
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

test("a new notice removes neither a failure, nor an undo, nor what stays", () => {
  notices.failed(new Error("The disk is full."));
  notices.done("Archived.", async () => undefined);
  notices.done("The file is large.", undefined, { stays: true });
  notices.offer("Tag created.", "Open", () => undefined);
  for (let number = 1; number <= 9; number += 1) notices.done(`Saved ${number}.`);
  expect(texts()).toEqual([
    "The disk is full.",
    "Archived.",
    "The file is large.",
    "Tag created.",
    "Saved 6.",
    "Saved 7.",
    "Saved 8.",
    "Saved 9.",
  ]);
});

test("the same failure is one notice that counts", () => {
  for (const text of ["The disk is full.", "No answer.", "The disk is full.", "The disk is full."]) notices.failed(new Error(text));
  expect(notices.shown.map(({ text, times }) => [text, times])).toEqual([
    ["No answer.", 1],
    ["The disk is full.", 3],
  ]);
});

const archive = (name: string, undone: string[]) =>
  notices.done(`${name} archived.`, async () => void undone.push(name), { many: (number) => `${number} tags archived.` });

test("several actions of one kind are one notice with their number, and its undo undoes all", async () => {
  const undone: string[] = [];
  for (const name of ["Bottle 41", "Bottle 42", "Bottle 43", "Bottle 44"]) archive(name, undone);
  expect(texts()).toEqual(["4 tags archived."]);
  expect(notices.changes.map(({ text }) => text)).toEqual([41, 42, 43, 44].map((number) => `Bottle ${number} archived.`));
  await notices.undo(notices.shown[0]!);
  expect(undone).toEqual(["Bottle 44", "Bottle 43", "Bottle 42", "Bottle 41"]);
  expect(notices.changes).toEqual([]);
  expect(notices.shown).toMatchObject([{ text: "Undone.", about: "4 tags archived." }]);
});

test("one of several is undone by itself, and the notice counts the others", async () => {
  const undone: string[] = [];
  for (const name of ["Bottle 41", "Bottle 42"]) archive(name, undone);
  await notices.undoOne(notices.changes[1]!);
  expect(undone).toEqual(["Bottle 42"]);
  expect(texts()).toEqual(["Bottle 41 archived.", "Undone."]);
});

test("an undo outlives its notice", async () => {
  const undone: string[] = [];
  archive("Bottle 41", undone);
  vi.advanceTimersByTime(60_000);
  expect(texts()).toEqual([]);
  await notices.undoOne(notices.changes[0]!);
  expect(undone).toEqual(["Bottle 41"]);
});

test("an undo that failed stays, and can be tried again", async () => {
  let full = true;
  const undo = () => (full ? Promise.reject(new Error("The disk is full.")) : Promise.resolve());
  notices.done("First.", async () => undefined);
  notices.done("Archived.", undo);
  await notices.undo(notices.shown.at(-1)!);
  expect(notices.changes.map(({ text }) => text)).toEqual(["First.", "Archived."]);
  expect(texts()).toEqual(["First.", "The disk is full."]);
  full = false;
  await notices.undoOne(notices.changes[1]!);
  expect(notices.changes.map(({ text }) => text)).toEqual(["First."]);
});

test("the same words about different things are one notice without a name, with or without an undo apart", () => {
  notices.done("Properties saved.", async () => undefined, { about: "Bottle 41" });
  notices.done("Properties saved.", async () => undefined, { about: "Bottle 42" });
  notices.done("Properties saved.", undefined, { about: "Bottle 43" });
  expect(notices.shown.map(({ text, about, times }) => [text, about, times])).toEqual([
    ["Properties saved.", null, 2],
    ["Properties saved.", "Bottle 43", 1],
  ]);
  expect(notices.shown.map(undoable)).toEqual([true, false]);
});

test("what is forgotten is neither shown nor undone", async () => {
  const undone: string[] = [];
  const id = archive("Bottle 41", undone);
  notices.forget(id);
  expect([texts(), notices.changes]).toEqual([[], []]);
});
