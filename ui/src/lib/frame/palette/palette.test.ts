import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CurrentToken, Scope } from "../../api/types";
import "../../inlays/knownChips";

const went: unknown[][] = [];
vi.mock("../../window/router.svelte", () => ({
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
const demo = vi.hoisted(() => ({ on: false, simulated: "false" }));
vi.mock("../../window/demoWorld.svelte", () => ({ demoWorld: demo }));
const stored = new Map<string, string>();
vi.stubGlobal("localStorage", { getItem: (key: string) => stored.get(key) ?? null });
vi.stubGlobal("location", { hash: "" });

const { rights } = await import("../../stores/rights.svelte");
const { actionGroup } = await import("./actions");
const { searching } = await import("./found");
const { isPart, uidPart } = await import("./parts");
const { screenActions } = await import("../../../routes/actions");
const { connectionGroup, settingGroup, viewGroup } = await import("./here");

/** Gives the connection exactly these rights. */
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
  groups: [],
  inlays: [],
};
let asked: string[] = [];
/** The parameters of the last request for tags. */
let askedFor: Record<string, string> = {};
/** The status with which a path fails. */
const failing = new Map<string, number>();

beforeEach(() => {
  asked = [];
  went.length = 0;
  rights.token = null;
  vi.stubGlobal("fetch", async (address: string) => {
    const { pathname, searchParams } = new URL(address, "http://service");
    const path = pathname.replace("/admin/v1/", "");
    asked.push(path);
    if (path === "tags") askedFor = Object.fromEntries(searchParams);
    const status = failing.get(path);
    if (status) return Response.json({ detail: "The database is busy." }, { status });
    if (path === "interactions/9042") return Response.json({ id: 9042, tag_name: "Crate 7", simulated: true });
    const part = searchParams.get("uid_part")?.toUpperCase();
    const items = things[path]?.filter((one) => part === undefined || ("uid" in one && String(one.uid).includes(part)));
    return items ? Response.json({ items, next: null }) : Response.json({ detail: "Not found." }, { status: 404 });
  });
});
afterEach(() => {
  stored.clear();
  failing.clear();
});

test("things of every kind are found, and each says its kind", async () => {
  const groups = (await searching()("may")).groups.filter(({ entries }) => entries.length > 0);
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
    const interactions = async () => (await searching()(text)).groups.find(({ title }) => title === "Interactions")!;
    // It is simulated, and the screens show the owner's taps.
    expect((await interactions()).entries).toEqual([]);
    demo.on = true;
    const found = await interactions();
    demo.on = false;
    expect(found.entries.map(({ name, about }) => [name, about])).toEqual([["Interaction 9,042", "Crate 7"]]);
    found.entries[0]!.run();
  }
  expect(went[0]).toEqual(["interactions", 9042, {}]);
});

test("nothing is asked for that the connection may not see", async () => {
  allow(["read"], [3]);
  const groups = (await searching()("may")).groups.filter(({ entries }) => entries.length > 0);
  expect(groups.map(({ title }) => title)).toEqual(["Tags", "Experiences", "Submissions"]);
  expect(asked.sort()).toEqual(["experiences", "submissions", "tags"]);
  allow(["webhooks"]);
  asked = [];
  await searching()("may");
  expect(asked).toEqual([]);
});

test("a group is found by its name or its code, and its pane is opened with its tags", async () => {
  things.groups = [{ id: 3, name: "May wines", kind: "product", code: "MW-1" }];
  const groups = (await searching()("may")).groups.find(({ title }) => title === "Groups")!;
  things.groups = [];
  expect(groups.entries.map(({ name, about }) => [name, about])).toEqual([["May wines", "Product MW-1"]]);
  groups.entries[0]!.run();
  expect(went.at(-1)).toEqual(["tags", "group-3", { group: "3" }]);
});

test("a tag is found by its serial number, and an inlay by a part of its UID", async () => {
  things.tags = [
    { id: 41, name: "May bottle", slug: "k3v9qa", attributes: { serial_number: "SN-2026-0815" } },
    { id: 42, name: "June bottle", slug: "x1", attributes: {} },
  ];
  things.inlays = [
    { id: 7, uid: "04A1B2C3D4E5F0", technology: "ntag424dna" },
    { id: 8, uid: "0499999999999F", technology: "ntag213" },
  ];
  const of = async (search: ReturnType<typeof searching>, q: string, title: string) =>
    (await search(q)).groups.find((group) => group.title === title)!.entries.map(({ name, about }) => [name, about]);
  const search = searching();
  // This service returns all of its tags for any search.
  expect(await of(search, "2026 0815", "Tags")).toContainEqual(["May bottle", "serial_number: SN-2026-0815"]);
  expect(askedFor).toEqual({ q: "2026 0815", limit: "20", simulated: "false" });
  expect(asked.filter((path) => path === "tags")).toHaveLength(1);
  expect(await of(search, "b2:c3:d4", "Inlays")).toEqual([["04A1B2C3D4E5F0", expect.any(String)]]);
  expect(await of(search, "nobody 404", "Inlays")).toEqual([]);
  // Names and short texts are no parts.
  expect(["bottle", "0a1"].some(isPart)).toBe(false);
  expect(["b2:c3:d4", "SN-2026", "bottle"].map(uidPart)).toEqual(["b2c3d4", null, null]);
});

test("a kind that cannot be searched is said, beside what the others found", async () => {
  failing.set("tags", 503);
  const search = searching();
  const { groups, failure } = await search("may");
  expect(failure).toMatchObject({ message: "The database is busy." });
  expect(groups.filter(({ entries }) => entries.length > 0).map(({ title }) => title)).toContain("Experiences");
  // A token may not see everything: that is no failure.
  failing.set("tags", 403);
  expect((await search("may")).failure).toBe(null);
  // Names that could not be loaded are asked for again with the next words.
  failing.set("tags", 403).set("sheets", 503);
  const names = searching();
  expect((await names("may")).failure).not.toBe(null);
  failing.clear();
  const again = await names("may");
  expect(again.failure).toBe(null);
  expect(again.groups.find(({ title }) => title === "Test sheets")?.entries).toHaveLength(1);
});

test("of two searches at once, both say that things with names could not be loaded", async () => {
  failing.set("sheets", 503);
  const search = searching();
  const found = await Promise.all([search("Ma"), search("May")]);
  expect(found.map(({ failure }) => failure)).not.toContain(null);
  failing.clear();
  expect((await search("May b")).failure).toBeNull();
});

test("actions are found by the words that people use for them", () => {
  const found = (words: string) => names(actionGroup([], words, screenActions));
  expect(found("export")).toEqual([
    "Export tags as spreadsheet",
    "Export tags as CSV",
    "Export interactions as spreadsheet",
    "Export submissions as spreadsheet",
  ]);
  expect(found("excel tags")).toEqual(["Export tags as spreadsheet", "Export tags as CSV", "Import tags from a file"]);
  for (const words of ["backup", "back up", "save copy"]) expect(found(words)).toContain("Make a backup");
  expect(found("print")).toEqual(["Print labels of a run", "Print a QR code of a tag", "Print a test sheet"]);
  expect(found("dark mode")).toEqual(["Choose a light or dark theme"]);
  const undo = [{ keys: "Ctrl Z", does: "Undo the last change", run: () => undefined }];
  expect(names(actionGroup(undo, "revert"))).toEqual(["Undo the last change"]);
  allow(["read"]);
  expect(found("export")).toEqual([]);
});

test("only actions and settings are offered that the connection may use", () => {
  expect(names(actionGroup([], "new"))).toEqual([
    "New tag",
    "New experience",
    "New URL template",
    "New test sheet",
    "New virtual inlay",
    "New webhook",
    "New notification",
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
