import { beforeEach, expect, test, vi } from "vitest";
import { get, post, Problem, remove } from "../api/client";
import { Switched } from "../api/problem";
import type { ShellState } from "../shell/desktop";
import { shell } from "../shell/shell.svelte";
import { ownTaps } from "./ownTaps";
import { twins } from "./twins";

vi.mock("../api/client", async (original) => ({ ...(await original<object>()), get: vi.fn(), post: vi.fn(), remove: vi.fn() }));

const made = (id: number) => ({ id, tag_id: 100 + id });
const followed = { status: 302, location: "https://example.com/", interaction_id: 7, rk: "key", tap_micros: 1_500 };
const tapped = { url: "http://127.0.0.1/t/twin01?uid=1", counter: 1, followed };
/** The requests to the service, in order. */
const asked = () => vi.mocked(post).mock.calls.map(([path, body, at]) => [path, body, at]);
let next = 1;

beforeEach(() => {
  vi.mocked(get).mockReset();
  vi.mocked(remove).mockReset().mockResolvedValue(undefined);
  vi.mocked(post)
    .mockReset()
    .mockImplementation(async (path: string) => (path === "/simulator/inlays" ? made(next++) : tapped) as never);
});

test("a tag has one twin, until the tag changes: then the old one is deleted", async () => {
  const tag = { id: 1, simulated: false, updated_at: "a" };
  await twins.tap(tag);
  await twins.tap(tag);
  expect(asked().map(([path]) => path)).toEqual(["/simulator/inlays", "/simulator/inlays/{id}/tap", "/simulator/inlays/{id}/tap"]);
  expect(ownTaps.of(7)).toEqual({ url: tapped.url, location: followed.location, rk: "key", took: { tap: 1.5 } });
  await twins.tap({ ...tag, updated_at: "b" });
  expect(vi.mocked(remove).mock.calls.map(([path]) => path)).toEqual(["/simulator/inlays/{id}", "/tags/{id}"]);
  expect(asked().filter(([path]) => path === "/simulator/inlays")).toHaveLength(2);
});

test("a twin that somebody deleted is made again", async () => {
  const tag = { id: 2, simulated: false, updated_at: "a" };
  await twins.url(tag);
  vi.mocked(post).mockRejectedValueOnce(new Problem(404, "There is no such virtual inlay."));
  expect(await twins.url(tag)).toBe(tapped.url);
  expect(asked().filter(([path]) => path === "/simulator/inlays")).toHaveLength(2);
});

test("a simulated tag is tapped itself, with the chip that it has", async () => {
  vi.mocked(get).mockResolvedValue({ items: [{ id: 40, tag_id: 3 }] } as never);
  await twins.url({ id: 3, simulated: true, updated_at: "a" });
  expect(asked()).toEqual([["/simulator/inlays/{id}/tap", { follow: false }, { id: 40 }]]);
});

const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);

test("the twin of a tag is no twin of another service's tag with the same id", async () => {
  const tag = { id: 4, simulated: false, updated_at: "a" };
  connect("embedded");
  await twins.url(tag);
  connect("shop");
  await twins.url(tag);
  const inlays = () => asked().map(([path, , at]) => (path === "/simulator/inlays" ? "made" : (at as { id: number }).id));
  const [, first, , second] = inlays();
  expect(inlays()).toEqual(["made", first, "made", second]);
  expect(second).not.toBe(first);
  connect("embedded");
  await twins.url(tag);
  expect(inlays().at(-1)).toBe(first);
});

test("a switch while an old twin is deleted makes nothing in the other service", async () => {
  connect("embedded");
  await twins.url({ id: 5, simulated: false, updated_at: "a" });
  vi.mocked(post).mockClear();
  vi.mocked(remove).mockImplementationOnce(async () => {
    connect("shop");
    throw new Switched(true);
  });
  await expect(twins.url({ id: 5, simulated: false, updated_at: "b" })).rejects.toThrow(Switched);
  expect(asked()).toEqual([]);
  expect(vi.mocked(remove)).toHaveBeenCalledTimes(1);
});
