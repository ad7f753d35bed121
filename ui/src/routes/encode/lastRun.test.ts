import { beforeEach, expect, test, vi } from "vitest";

const stored = new Map<string, string>();
vi.stubGlobal("localStorage", {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
});
const { keepRun, nameFor, newRun, patternFor } = await import("./lastRun");

beforeEach(() => stored.clear());

test("a new run begins like the last one, without its name and what is for ever", () => {
  const first = newRun();
  expect([first.planned, first.experience, first.pattern]).toEqual([50, "", ""]);
  const form = { ...first.form, choice: "ntag213", lock: true, lrp: true };
  keepRun({ ...first, name: "Roll 1", planned: 20, experience: "7", form }, "Lamp {n}");
  const next = newRun();
  expect([next.name, next.planned, next.experience, next.form.choice]).toEqual(["", 20, "7", "ntag213"]);
  expect([next.form.lock, next.form.lrp]).toEqual([false, false]);
});

test("names are guessed from the last run of the experience, or from its name", () => {
  expect(patternFor("", "")).toBe("Tag {n:04}");
  expect(patternFor("7", "Desk lamp")).toBe("Desk lamp {n:04}");
  keepRun({ ...newRun(), experience: "7" }, "Lamp {n}");
  expect(patternFor("7", "Desk lamp")).toBe("Lamp {n}");
  expect(patternFor("8", "Watch")).toBe("Watch {n:04}");
});

test("a run without a name is named by its experience and day", () => {
  const at = new Date(2026, 10, 21);
  expect(nameFor("", at)).toBe("Run of 21 November");
  expect(nameFor("Desk lamp", at)).toBe("Desk lamp, 21 November");
});
