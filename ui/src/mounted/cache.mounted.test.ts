import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cleanup, render } from "vitest-browser-svelte";
import { cached } from "../lib/api/cache";
import { announceEvent, announceMissed, announceWrite } from "../lib/api/changes";
import { patchVersion } from "../lib/api/client";
import type { LiveEvent } from "../lib/api/types";
import type { ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import Names from "./Names.svelte";
import Taps from "./Taps.svelte";

let names = "";
let asked = vi.fn();

const page = () => new Response(JSON.stringify({ items: names === "" ? [] : [{ id: 1, name: names }], next: null }));
const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);
/** Longer than the pause before a value is loaded again. */
const later = () => new Promise((done) => setTimeout(done, 400));

let connections = 0;
beforeEach(() => {
  // The cache of another connection is empty.
  connect(`cache-${connections++}`);
  [names, asked] = ["Register", vi.fn(() => page())];
  vi.spyOn(window, "fetch").mockImplementation(async (_, init) => (init?.method === "GET" ? asked() : new Response("{}")));
});
afterEach(async () => {
  await cleanup();
  vi.restoreAllMocks();
  shell.state = { phase: "starting" };
});

test("several screens share one request and one value", async () => {
  const [one, other] = [await render(Names), await render(Names)];
  await expect.element(one.getByText("Register").first()).toBeVisible();
  await expect.element(other.getByText("Register").last()).toBeVisible();
  expect(asked).toHaveBeenCalledTimes(1);
});

test("a write of this window loads the values that it concerns, and the former ones are shown until then", async () => {
  const screen = await render(Names);
  await expect.element(screen.getByText("Register")).toBeVisible();
  let answer = (_: Response): void => undefined;
  asked.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  await patchVersion("/experiences/{id}", { name: "Warranty" }, { id: 1 }, null);
  await vi.waitUntil(() => asked.mock.calls.length === 2);
  await expect.element(screen.getByText("Register")).toBeVisible();
  names = "Warranty";
  answer(page());
  await expect.element(screen.getByText("Warranty")).toBeVisible();
  announceWrite("/webhooks/1");
  await later();
  expect(asked).toHaveBeenCalledTimes(2);
});

test("many changes at once load a value once, and those of other things do not", async () => {
  const events = (tag_id: number) => ({ event: "update", tag_id, interaction_id: 1 }) as LiveEvent;
  const screen = await render(Names);
  await expect.element(screen.getByText("Register")).toBeVisible();
  await render(Taps, { tag: 7 });
  await vi.waitUntil(() => asked.mock.calls.length === 2);
  for (let n = 0; n < 20; n++) announceWrite("/experiences/1");
  announceEvent(events(8));
  await later();
  expect(asked.mock.calls.length).toBe(3);
  announceEvent(events(7));
  await vi.waitUntil(() => asked.mock.calls.length === 4);
});

test("a change by another person loads a value once, and missed events load all that is shown once", async () => {
  const changed = (kind: string) => announceEvent({ event: "changed", kind, id: null } as LiveEvent);
  const screen = await render(Names);
  await expect.element(screen.getByText("Register")).toBeVisible();
  await render(Taps, { tag: 7 });
  await vi.waitUntil(() => asked.mock.calls.length === 2);
  names = "Warranty";
  changed("webhooks");
  for (let n = 0; n < 20; n++) changed("experiences");
  await expect.element(screen.getByText("Warranty")).toBeVisible();
  await later();
  expect(asked.mock.calls.length).toBe(3);
  announceMissed();
  announceMissed();
  await vi.waitUntil(() => asked.mock.calls.length === 5);
  await later();
  expect(asked.mock.calls.length).toBe(5);
});

test("a value that no screen shows is not loaded; a screen that comes back has the last value at once", async () => {
  const first = await render(Names);
  await expect.element(first.getByText("Register")).toBeVisible();
  await first.unmount();
  await later();
  expect(asked).toHaveBeenCalledTimes(1);
  names = "Warranty";
  const second = await render(Names);
  expect(second.getByText("Register").query()).not.toBeNull();
  await expect.element(second.getByText("Warranty")).toBeVisible();
});

test("a failure has a retry; after one the shown value stays", async () => {
  asked.mockReturnValueOnce(new Response(JSON.stringify({ detail: "The database is locked." }), { status: 503 }));
  const screen = await render(Names);
  await expect.element(screen.getByRole("alert")).toHaveTextContent("The database is locked.");
  await screen.getByRole("button", { name: "Load the names again" }).click();
  await expect.element(screen.getByText("Register")).toBeVisible();
  asked.mockReturnValueOnce(new Response("{}", { status: 503 }));
  announceWrite("/experiences/1");
  await vi.waitUntil(() => asked.mock.calls.length === 3);
  await expect.element(screen.getByText("Register")).toBeVisible();
});

test("an erased value is not shown again, neither after its screen comes back nor after a failure", async () => {
  const first = await render(Names);
  await expect.element(first.getByText("Register")).toBeVisible();
  announceWrite("/experiences/1", true);
  await first.unmount();
  let answer = (_: Response): void => undefined;
  asked.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const second = await render(Names);
  expect(second.getByText("Register").query()).toBeNull();
  answer(page());
  await expect.element(second.getByText("Register")).toBeVisible();
  asked.mockReturnValueOnce(new Response("{}", { status: 503 }));
  announceWrite("/experiences/1", true);
  await expect.element(second.getByRole("alert")).toBeVisible();
  expect(second.getByText("Register").query()).toBeNull();
});

test("an answer from before a write does not replace a newer one", async () => {
  const value = cached("/experiences", { limit: 500 });
  let late = (_: Response): void => undefined;
  asked.mockReturnValueOnce(new Promise((resolve) => (late = resolve)));
  const former = value.load();
  value.outdate();
  names = "Warranty";
  await value.load();
  names = "Register";
  late(page());
  expect((await former).items[0]?.name).toBe("Warranty");
});

test("each connection has values of its own", async () => {
  await cached("/experiences", { limit: 500 }).load();
  connect("cache-shop");
  expect(cached("/experiences", { limit: 500 }).known).toBeNull();
});
