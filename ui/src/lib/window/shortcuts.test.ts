import { beforeEach, expect, test, vi } from "vitest";

const went: string[] = [];
vi.mock("./router.svelte", () => ({ router: { go: (screen: string) => void went.push(screen) } }));
const hidden = new Set<string>();
vi.mock("./navigation", () => ({
  offers: ({ screen }: { screen: string }) => !hidden.has(screen),
  navigation: [
    [
      { screen: "tags", name: "Tags", key: "t" },
      { screen: "sheets", name: "Test sheets", key: "s" },
    ],
  ],
}));

const scaled: string[] = [];
vi.mock("./scale.svelte", () => ({
  scale: {
    offered: true,
    larger: () => void scaled.push("larger"),
    smaller: () => void scaled.push("smaller"),
    reset: () => void scaled.push("reset"),
  },
}));

const { notices } = await import("./notices.svelte");
const { shortcuts } = await import("./shortcuts.svelte");
const { singleKeys } = await import("./singleKeys.svelte");

let clock = 0;
interface Press {
  /** Milliseconds since the previous key. */
  after?: number;
  /** The element that has the focus, if it takes text. */
  on?: string | null;
  ctrlKey?: boolean;
  altKey?: boolean;
  shiftKey?: boolean;
  code?: string;
}

const press = (key: string, { after = 100, on = null, ...more }: Press = {}) => {
  clock += after;
  const target = { isContentEditable: false, matches: (selector: string) => on !== null && selector.includes(on) };
  const event = { key, target, timeStamp: clock, ctrlKey: false, metaKey: false, altKey: false, preventDefault: vi.fn(), ...more };
  shortcuts.press(event as unknown as KeyboardEvent);
  return event.preventDefault.mock.calls.length > 0;
};

beforeEach(() => {
  went.length = 0;
  shortcuts.palette = shortcuts.sheet = false;
});

test("g and a letter go to a screen", () => {
  expect(press("g")).toBe(false);
  expect(press("t")).toBe(true);
  expect(went).toEqual(["tags"]);
});

test("keys lead to no screen that the connection may not use, and are not listed", () => {
  hidden.add("sheets");
  press("g");
  expect(press("s")).toBe(false);
  expect(went).toEqual([]);
  expect(shortcuts.everywhere.map(({ keys }) => keys)).toEqual(["Ctrl K", "Ctrl Z", "Ctrl +", "Ctrl -", "Ctrl 0", "?", "g t"]);
  hidden.clear();
});

test("a g that no key followed in time goes nowhere with a later key", () => {
  press("g");
  press("t", { after: 5_000 });
  expect(went).toEqual([]);
});

test("what is shown last has its keys first, and gives them back", () => {
  const done: string[] = [];
  const run = (name: string) => [{ keys: "x", does: name, run: () => void done.push(name) }];
  const endScreen = shortcuts.add(run("screen"));
  const endDialog = shortcuts.add(run("dialog"));
  press("x");
  endDialog();
  press("x");
  endScreen();
  expect(press("x")).toBe(false);
  expect(done).toEqual(["dialog", "screen"]);
  expect(shortcuts.here).toEqual([]);
});

test("the last of a key is the one that is listed", () => {
  const end = [
    shortcuts.add([{ keys: "n", does: "New tag", run: () => undefined }]),
    shortcuts.add([{ keys: "n", does: "New rule", run: () => undefined }]),
  ];
  expect(shortcuts.here.map(({ does }) => does)).toEqual(["New rule"]);
  for (const stop of end) stop();
});

test("typing in a field is no shortcut, and ticking a box is none of it", () => {
  press("g", { on: "textarea" });
  press("t", { on: "textarea" });
  expect(went).toEqual([]);
  // A checkbox is not a text field.
  expect(press("?")).toBe(true);
  expect(shortcuts.sheet).toBe(true);
});

test("Ctrl K opens the palette from a field, too, and keys with it or Alt are the system's", () => {
  expect(press("k", { on: "textarea", ctrlKey: true })).toBe(true);
  expect(shortcuts.palette).toBe(true);
  shortcuts.palette = false;
  expect(press("?", { altKey: true })).toBe(false);
  expect(shortcuts.sheet).toBe(false);
});

test("an open palette has all keys", () => {
  shortcuts.palette = true;
  expect(press("?")).toBe(false);
  expect(shortcuts.sheet).toBe(false);
});

test("Ctrl Z undoes what the latest notice offers, except in text fields", async () => {
  const undone: string[] = [];
  notices.done("First.", async () => void undone.push("first"));
  notices.done("Second.", async () => void undone.push("second"));
  notices.done("Saved.");
  expect(press("z", { ctrlKey: true, on: "textarea" })).toBe(false);
  expect(press("z", { ctrlKey: true, shiftKey: true })).toBe(false);
  expect(press("z", { ctrlKey: true })).toBe(true);
  expect(press("z", { ctrlKey: true })).toBe(true);
  expect(press("z", { ctrlKey: true })).toBe(true);
  expect(undone).toEqual(["second", "first"]);
});

test("single keys can be turned off: those with Ctrl and those that write nothing stay", () => {
  const done: string[] = [];
  const end = shortcuts.add([
    { keys: "n", does: "New tag", run: () => void done.push("n") },
    { keys: "Escape", does: "Keep it", run: () => void done.push("Escape") },
  ]);
  singleKeys.on = false;
  for (const key of ["?", "n"]) expect(press(key)).toBe(false);
  press("g");
  expect(press("t")).toBe(false);
  expect(press("Escape")).toBe(true);
  expect(press("k", { ctrlKey: true })).toBe(true);
  expect([done, went, shortcuts.sheet]).toEqual([["Escape"], [], false]);
  expect(shortcuts.usable.map(({ keys }) => keys)).toEqual(["Escape", "Ctrl K", "Ctrl Z", "Ctrl +", "Ctrl -", "Ctrl 0"]);
  singleKeys.on = true;
  end();
});

test("zoom keys work on every keyboard, also in a text field", () => {
  const ctrlKey = true;
  scaled.length = 0;
  // Plus with Shift, without Shift, on a keyboard that has it without Shift, and on the number pad.
  press("+", { ctrlKey, shiftKey: true });
  press("=", { ctrlKey });
  press("+", { ctrlKey, on: "textarea" });
  press("-", { ctrlKey });
  press("0", { ctrlKey, code: "Digit0" });
  press("à", { ctrlKey, code: "Digit0" });
  press("0", { ctrlKey, code: "Numpad0" });
  expect(scaled).toEqual(["larger", "larger", "larger", "smaller", "reset", "reset", "reset"]);
  // A German keyboard writes "=" with Shift and 0.
  expect(press("=", { ctrlKey, shiftKey: true, code: "Digit0" })).toBe(false);
  expect(press("0", { code: "Digit0" })).toBe(false);
  expect(scaled).toHaveLength(7);
});
