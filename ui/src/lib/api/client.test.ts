import { expect, test, vi } from "vitest";
import { notices } from "../window/notices.svelte";
import type { ShellState } from "../shell/desktop";
import { reach } from "./reach";
import { shell } from "../shell/shell.svelte";
import { get, post } from "./client";
import { saysUnreachable, whenOutdated } from "./problem";

vi.mock("../shell/desktop", () => ({ serviceBase: (connection: string) => `tapdesk://localhost/${connection}` }));

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);
const asked: string[] = [];
const pending: (() => void)[] = [];
/** Answers the last request, and all earlier ones that wait. */
const answer = () => pending.splice(0).forEach((done) => done());
vi.stubGlobal("fetch", (address: string) => {
  asked.push(address);
  return new Promise((done) => pending.push(() => done(new Response("{}"))));
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
  // The request belongs to a screen that is no longer shown, so nobody needs its failure.
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

const unreachable = () =>
  Response.json({ code: "unreachable", detail: "The service at https://a does not answer (refused)." }, { status: 502 });

test("a read waits for a service that is lost, even without its answer, and is sent again once it is back", async () => {
  connect("shop");
  const sent = asked.length;
  const read = get("/tags", { limit: 1 });
  // The service hangs: no response comes.
  reach.take(true);
  const second = get("/tags", { limit: 2 });
  await Promise.resolve();
  expect(asked.length - sent).toBe(1);
  reach.take(false);
  await vi.waitFor(() => expect(asked.length - sent).toBe(3));
  answer();
  expect(await Promise.all([read, second])).toEqual([{}, {}]);
});

test("a change is not sent to a service that is lost, and its failure is outdated once that is back", async () => {
  connect("shop");
  reach.take(true);
  const sent = asked.length;
  const failure = await post("/tags", { name: "Bottle 41" }).catch((error: unknown) => error);
  expect(asked.length).toBe(sent);
  expect(saysUnreachable((failure as Error).message)).toBe(true);
  const forget = vi.fn();
  whenOutdated(failure, forget);
  whenOutdated(new Error("Another one."), forget);
  expect(forget).not.toHaveBeenCalled();
  reach.take(false);
  expect(forget).toHaveBeenCalledOnce();
});

test("a read that got no answer is a failure only if the service is not lost a moment later", async () => {
  vi.useFakeTimers();
  connect("shop");
  vi.stubGlobal("fetch", () => Promise.resolve(unreachable()));
  const read = get("/tags", { limit: 1 }).catch((error: unknown) => (error as Error).message);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await read).toBe("The service at https://a does not answer (refused).");
  vi.useRealTimers();
});
