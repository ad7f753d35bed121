import { afterEach, expect, test, vi } from "vitest";
import { Resource } from "./resource.svelte";

vi.mock("../shell/desktop", () => ({ serviceBase: () => "" }));
afterEach(() => vi.unstubAllGlobals());

interface Thing {
  name: string;
  status: "active" | "archived";
  attributes?: Record<string, string>;
}

/** A service with one thing, whose version rises with each change. */
function service(thing: Thing) {
  let version = 1;
  const asked: { body: unknown; version: string | null }[] = [];
  const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status, headers: { etag: `"${version}"` } });
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method === "GET") return answer(200, thing);
    const headers = new Headers(init.headers);
    asked.push({ body: JSON.parse(String(init.body)), version: headers.get("if-match") });
    if (headers.get("if-match") !== `"${version}"`) return answer(412, { detail: "It was changed.", code: "changed", current: thing });
    change(JSON.parse(String(init.body)));
    return answer(200, thing);
  });
  const change = (changes: Partial<Thing>) => {
    thing = { ...thing, ...changes };
    version++;
  };
  return { asked, change, now: () => thing };
}

test("a save names the version that was seen, and sends only the changes", async () => {
  const { asked, now } = service({ name: "Bottle", status: "active" });
  const thing = new Resource("/tags/{id}", { id: 1 });
  await thing.load();
  await thing.save({ name: "Flask" });
  expect(asked).toEqual([{ body: { name: "Flask" }, version: '"1"' }]);
  expect(now()).toEqual({ name: "Flask", status: "active" });
  await thing.save({ status: "archived" });
  expect(asked[1]?.version).toBe('"2"');
});

test("another's change of another member is kept, and ours is stored with it", async () => {
  const { change, now } = service({ name: "Bottle", status: "active" });
  const thing = new Resource("/tags/{id}", { id: 1 });
  await thing.load();
  change({ status: "archived" });
  await thing.save({ name: "Flask" });
  expect(now()).toEqual({ name: "Flask", status: "archived" });
});

test("another's change of the same member is shown before it is overwritten", async () => {
  const { change, now } = service({ name: "Bottle", status: "active" });
  const thing = new Resource("/tags/{id}", { id: 1 });
  await thing.load();
  change({ name: "Jar" });
  await expect(thing.save({ name: "Flask" })).rejects.toThrow("Somebody else changed this");
  expect(thing.now?.name).toBe("Jar");
  expect(now().name).toBe("Jar");
  await thing.save({ name: "Flask" });
  expect(now().name).toBe("Flask");
});

test("undo reverts one's own change, and not a later one of somebody else", async () => {
  const { change, now } = service({ name: "Bottle", status: "active" });
  const thing = new Resource("/tags/{id}", { id: 1 });
  await thing.load();
  const saved = await thing.save({ name: "Flask" });
  change({ status: "archived" });
  await thing.undo(saved, { name: "Bottle" });
  expect(now()).toEqual({ name: "Bottle", status: "archived" });
  const again = await thing.save({ name: "Flask" });
  change({ name: "Jar" });
  await expect(thing.undo(again, { name: "Bottle" })).rejects.toThrow("Nothing was undone");
  expect(now().name).toBe("Jar");
});

test("values within a member are compared on their own", async () => {
  const { change, now } = service({ name: "Bottle", status: "active", attributes: { colour: "red" } });
  const thing = new Resource("/tags/{id}", { id: 1 });
  const attributes = ({ attributes }: { attributes: object }) => attributes;
  const save = (colour: string) => thing.save({ colour }, { attributes: { colour } }, attributes);
  await thing.load();
  change({ attributes: { colour: "red", size: "small" } });
  // The service merges the attributes of a body into its own; this one replaces them.
  await save("blue");
  expect(now().attributes).toEqual({ colour: "blue" });
  change({ attributes: { colour: "green" } });
  await expect(save("white")).rejects.toThrow("Somebody else changed this");
  const saved = await save("white");
  change({ attributes: { colour: "black" } });
  await expect(thing.undo(saved, { colour: "green" }, { attributes: { colour: "green" } }, attributes)).rejects.toThrow(
    "Nothing was undone",
  );
  expect(now().attributes).toEqual({ colour: "black" });
});
