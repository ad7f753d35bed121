import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CurrentToken, Scope } from "../../api/types";

const went: unknown[][] = [];
vi.mock("../router.svelte", () => ({
  href: (screen: string) => `#/${screen}`,
  router: { go: (...place: unknown[]) => void went.push(place), place: { screen: "overview", selected: null, query: {} } },
}));
const connected: string[] = [];
vi.mock("../../shell/desktop", () => ({ serviceBase: () => "", connect: async (id: string) => void connected.push(id) }));
vi.mock("../../shell/shell.svelte", () => {
  const connection = (id: string, name: string) => ({ id, name, kind: "remote", url: `https://${id}.example.com` });
  return {
    shell: {
      base: "",
      ready: {
        connection: connection("here", "This computer"),
        connections: [connection("here", "This computer"), connection("shop", "Shop")],
      },
    },
  };
});
const stored = new Map<string, string>();
vi.stubGlobal("localStorage", { getItem: (key: string) => stored.get(key) ?? null });
vi.stubGlobal("location", { hash: "" });

const { rights } = await import("../rights.svelte");
const { actionGroup } = await import("./actions");
const { searching } = await import("./found");
const { connectionGroup, settingGroup, viewGroup } = await import("./here");

/** Lets the connection do this and no more. */
const allow = (scopes: Scope[], experience_ids: number[] | null = null) =>
  (rights.token = { scopes, experience_ids } as unknown as CurrentToken);
const names = ({ entries }: { entries: { name: string }[] }) => entries.map(({ name }) => name);

const things: Record<string, object[]> = {
  tags: [{ id: 41, name: "May bottle", slug: "k3v9qa" }],
  experiences: [{ id: 3, name: "May campaign", kind: "studio" }],
  submissions: [{ id: 8, tag_name: "May bottle" }],
  "url-templates": [{ id: 5, name: "Old form", template: "https://may.example.com/{uid}", technology: "ntag424dna" }],
  "encoding-runs": [
    { id: 6, name: "Roll of May" },
    { id: 9, name: "Roll of June" },
  ],
  "factory-orders": [{ id: 7, name: "Order of May" }],
  sheets: [{ id: 2, name: "Delivery of May" }],
};
let asked: string[] = [];

beforeEach(() => {
  asked = [];
  went.length = 0;
  rights.token = null;
  vi.stubGlobal("fetch", async (address: string) => {
    const path = new URL(address, "http://service").pathname.replace("/admin/v1/", "");
    asked.push(path);
    if (path === "interactions/9042") return Response.json({ id: 9042, tag_name: "Crate 7", simulated: true });
    const items = things[path];
    return items ? Response.json({ items, next: null }) : Response.json({ detail: "Not found." }, { status: 404 });
  });
});
afterEach(() => void stored.clear());

test("things of every kind are found, and each says its kind", async () => {
  const groups = (await searching()("may")).filter(({ entries }) => entries.length > 0);
  expect(
    groups.map(({ title, entries }) => [title, ...entries.map(({ name, about }) => [name, about].filter(Boolean).join(", "))]),
  ).toEqual([
    ["Tags", "May bottle"],
    ["Experiences", "May campaign, studio"],
    ["URL templates", expect.stringContaining("Old form, ")],
    ["Submissions", "Submission 8, May bottle"],
    ["Encoding runs", "Roll of May, Encoding run"],
    ["Factory orders", "Order of May, Factory order"],
    ["Test sheets", "Delivery of May, Test sheet"],
  ]);
  expect(new Set(groups.flatMap(({ entries }) => entries.map(({ icon }) => icon))).size).toBe(7);
  for (const { entries } of groups) entries[0]!.run();
  expect(went.slice(4)).toEqual([
    ["encode", 6, {}],
    ["encode", "order-7", {}],
    ["sheets", 2, {}],
  ]);
});

test("what has names is fetched once while the palette is open", async () => {
  const search = searching();
  await search("may");
  await search("june");
  expect(asked.filter((path) => path === "sheets")).toHaveLength(1);
  expect(asked.filter((path) => path === "tags")).toHaveLength(2);
});

test("an interaction is found by its number, as it is written", async () => {
  for (const text of ["9042", "9,042", "#9042", "No. 9042"]) {
    const found = (await searching()(text)).find(({ title }) => title === "Interactions")!;
    expect(found.entries.map(({ name, about }) => [name, about])).toEqual([["Interaction 9,042", "Crate 7"]]);
    found.entries[0]!.run();
  }
  expect(went[0]).toEqual(["interactions", 9042, { simulated: "true" }]);
});

test("nothing is asked for that the connection may not see", async () => {
  allow(["read"], [3]);
  const groups = (await searching()("may")).filter(({ entries }) => entries.length > 0);
  expect(groups.map(({ title }) => title)).toEqual(["Tags", "Experiences", "Submissions"]);
  expect(asked.sort()).toEqual(["experiences", "submissions", "tags"]);
  allow(["webhooks"]);
  asked = [];
  await searching()("may");
  expect(asked).toEqual([]);
});

test("only actions and settings are offered that the connection may use", () => {
  expect(names(actionGroup([], "new"))).toEqual([
    "New tag",
    "New experience",
    "New URL template",
    "New test sheet",
    "New virtual inlay",
    "New webhook",
    "New token",
  ]);
  allow(["read", "tags"], [3]);
  expect(names(actionGroup([], "new"))).toEqual(["New tag"]);
  allow(["read", "encode"]);
  expect(names(actionGroup([], "new"))).toEqual(["New test sheet"]);
  const settings = [
    { name: "Retention", part: "service", offered: () => false },
    { name: "Retail theme", part: "appearance", offered: () => true },
  ];
  expect(names(settingGroup(settings, "reta"))).toEqual(["Retail theme"]);
  expect(names(settingGroup(settings, "reten"))).toEqual([]);
});

test("saved views and other connections are found by their names", () => {
  stored.set("views inlays here", JSON.stringify({ views: [{ name: "Blocked ones", query: { blocked: "true" } }] }));
  expect(viewGroup("blocked").entries.map(({ name, about }) => [name, about])).toEqual([["Blocked ones", "View of inlays"]]);
  allow(["read"], [3]);
  expect(names(viewGroup("blocked"))).toEqual([]);
  const found = connectionGroup("com");
  expect(names(found)).toEqual(["Connect to Shop"]);
  found.entries[0]!.run();
  expect(connected).toEqual(["shop"]);
});
