import { expect, test, vi } from "vitest";
import type { ShellState } from "../shell/desktop";
import { notices } from "../window/notices.svelte";
import { works } from "../window/works.svelte";
import { perConnection, switchedSince } from "./connection.svelte";
import { shell } from "../shell/shell.svelte";

vi.mock("../shell/desktop", () => ({ serviceBase: (connection: string) => `tapdesk://localhost/${connection}` }));

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);

test("the address of the service names the connection", () => {
  connect("embedded");
  expect(shell.base).toBe("tapdesk://localhost/embedded");
  connect("shop");
  expect(shell.base).toBe("tapdesk://localhost/shop");
});

test("a switch is noticed, and a restart of the same service is none", () => {
  connect("embedded");
  const switched = switchedSince();
  shell.state = { phase: "starting" };
  expect(switched()).toBe(false);
  connect("embedded");
  expect(switched()).toBe(false);
  connect("shop");
  expect(switched()).toBe(true);
});

class Seen {
  #tags: string[] = [];
  note = "";

  get tags(): readonly string[] {
    return this.#tags;
  }

  async load(tags: Promise<string[]>): Promise<void> {
    this.#tags = await tags;
  }
}

test("each connection has its own, and finds it again", () => {
  const seen = perConnection(() => new Seen());
  connect("embedded");
  seen.note = "here";
  connect("shop");
  expect(seen.note).toBe("");
  seen.note = "there";
  connect("embedded");
  expect(seen.note).toBe("here");
});

test("what arrives after a switch is of the connection that was asked", async () => {
  const seen = perConnection(() => new Seen());
  connect("embedded");
  let answer: (tags: string[]) => void = () => undefined;
  const loading = seen.load(new Promise((done) => (answer = done)));
  connect("shop");
  answer(["Bottle 41"]);
  await loading;
  expect(seen.tags).toEqual([]);
  connect("embedded");
  expect(seen.tags).toEqual(["Bottle 41"]);
});

test("work stops at once when the connection changes, and says so", async () => {
  connect("embedded");
  const sent: string[] = [];
  let answer: () => void = () => undefined;
  const archiving = works.run("Archiving tags", 2, async (work) => {
    for (const piece of ["first", "second"]) {
      if (work.stopping) return;
      sent.push(piece);
      await new Promise<void>((done) => (answer = done));
    }
  });
  connect("shop");
  works.switched();
  expect(notices.shown.at(-1)?.text).toBe("Archiving tags was stopped, because the connection changed.");
  answer();
  await archiving;
  expect(sent).toEqual(["first"]);
});

test("an undo is never sent to another service: it goes with its connection, and says so", async () => {
  for (const { id } of notices.shown) notices.dismiss(id);
  connect("embedded");
  const undo = vi.fn(async () => undefined);
  notices.done("2 tags archived.", undo);
  const [notice] = notices.shown;
  connect("shop");
  await notices.undo(notice!);
  expect(undo).not.toHaveBeenCalled();

  connect("embedded");
  notices.done("3 tags archived.", undo);
  notices.done("Saved.");
  connect("shop");
  notices.switched();
  const shown = notices.shown.map(({ text }) => text);
  expect(shown).not.toContain("3 tags archived.");
  expect(shown.slice(-2)).toEqual(["Saved.", "The connection changed: earlier changes can no longer be undone here."]);
});
