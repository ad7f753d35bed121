import { expect, test, vi } from "vitest";
import { notices } from "../frame/notices.svelte";
import type { ShellState } from "../shell/desktop";
import { shell } from "../shell/shell.svelte";
import { get, post } from "./client";

vi.mock("../shell/desktop", () => ({ serviceBase: (connection: string) => `tapdesk://localhost/${connection}` }));

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);
const asked: string[] = [];
let answer: () => void = () => undefined;
vi.stubGlobal("fetch", (address: string) => {
  asked.push(address);
  return new Promise((done) => (answer = () => done(new Response("{}"))));
});

test("what would follow from an answer goes to no other service than the one that gave it", async () => {
  connect("embedded");
  const inTwoSteps = async () => {
    await get("/tags", { limit: 1 });
    await post("/tags", { name: "Bottle 41" });
  };
  const steps = inTwoSteps();
  connect("shop");
  answer();
  const failure = await steps.catch((error: unknown) => error);
  expect(asked).toEqual(["tapdesk://localhost/embedded/admin/v1/tags?limit=1"]);
  // Nobody asked for what is no longer shown.
  notices.failed(failure);
  expect(notices.shown).toEqual([]);
});

test("a change whose answer came too late is said to be uncertain", async () => {
  connect("embedded");
  const change = post("/tags", { name: "Bottle 41" });
  await vi.waitFor(() => expect(asked.at(-1)).toBe("tapdesk://localhost/embedded/admin/v1/tags"));
  connect("shop");
  answer();
  const failure = await change.catch((error: unknown) => error);
  notices.failed(failure);
  expect(notices.shown.at(-1)?.text).toMatch(/^The connection changed while a change was on its way/);
});
