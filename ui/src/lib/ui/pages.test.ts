import { afterEach, expect, test, vi } from "vitest";
import { notices } from "../window/notices.svelte";
import { Pages } from "./pages.svelte";

vi.mock("../shell/desktop", () => ({ serviceBase: () => "" }));
afterEach(() => {
  vi.unstubAllGlobals();
  notices.shown = [];
});

/** A service whose responses are released by the test, in any order. */
function service() {
  const asked: ((ids: number[], next?: string | null) => Promise<void>)[] = [];
  const fetch = () =>
    new Promise<Response>((resolve) => {
      asked.push(async (ids, next = null) => {
        resolve(new Response(JSON.stringify({ items: ids.map((id) => ({ id })), next })));
        await new Promise((done) => setTimeout(done));
      });
    });
  vi.stubGlobal("fetch", fetch);
  return asked;
}

const ids = (pages: Pages<"/interactions">) => pages.items.map(({ id }) => id);

async function loaded(first: number[], next: string | null = null) {
  const asked = service();
  const pages = new Pages("/interactions");
  void pages.load({}, false);
  await asked[0]!(first, next);
  return { asked, pages };
}

test("new rows in two answers are shown once", async () => {
  const { asked, pages } = await loaded([2, 1]);
  void pages.loadNewer();
  void pages.loadNewer();
  await asked[1]!([4, 3, 2, 1]);
  await asked[2]!([4, 3, 2, 1]);
  expect(ids(pages)).toEqual([4, 3, 2, 1]);
});

test("an older answer that comes late takes nothing away", async () => {
  const { asked, pages } = await loaded([2, 1]);
  void pages.loadNewer();
  void pages.loadNewer();
  await asked[2]!([4, 3, 2, 1]);
  await asked[1]!([3, 2, 1]);
  expect(ids(pages)).toEqual([4, 3, 2, 1]);
});

test("a newest row that is gone keeps no new one from being shown", async () => {
  const { asked, pages } = await loaded([3, 2, 1]);
  void pages.loadNewer();
  await asked[1]!([5, 4, 2, 1]);
  expect(ids(pages)).toEqual([5, 4, 3, 2, 1]);
});

test("where more than a page is new, no page of the former rows follows", async () => {
  const { asked, pages } = await loaded([2], "2");
  void pages.loadMore();
  void pages.loadNewer();
  await asked[2]!([9, 8], "8");
  await asked[1]!([1]);
  expect(ids(pages)).toEqual([9, 8]);
  expect(pages.loading).toBe(false);
  expect(pages.more).toBe(true);
});

/** A service with this number of rows, newest first, which handles limits and cursors. */
function rowsOf(many: number) {
  const asked: [limit: number, after: number][] = [];
  vi.stubGlobal("fetch", async (url: string | URL) => {
    const query = new URL(url, "http://service").searchParams;
    const [limit, after] = [Number(query.get("limit")), Number(query.get("after") ?? 0)];
    asked.push([limit, after]);
    const items = Array.from({ length: Math.min(limit, many - after) }, (_, index) => ({ id: many - after - index }));
    return new Response(JSON.stringify({ items, next: after + items.length < many ? String(after + items.length) : null }));
  });
  return asked;
}

test("a list that is loaded again has as many rows as before, in large pages, and none is gone meanwhile", async () => {
  rowsOf(3_000);
  const pages = new Pages("/interactions");
  await pages.load({}, false);
  expect(await pages.reach(1_200)).toBe(true);
  expect(pages.items.length).toBe(1_600);
  const asked = rowsOf(2_999);
  const again = pages.reload();
  await new Promise((done) => setTimeout(done));
  expect(pages.items.length).toBe(1_600);
  await again;
  expect(pages.items.length).toBe(1_600);
  expect(pages.items[0]?.id).toBe(2_999);
  expect(asked).toEqual([
    [500, 0],
    [500, 500],
    [500, 1_000],
    [100, 1_500],
  ]);
  expect(notices.shown).toEqual([]);
});

test("a list that is longer than what is loaded again says so", async () => {
  rowsOf(11_000);
  const pages = new Pages("/interactions");
  await pages.load({}, false);
  await pages.reach(10_600);
  await pages.reload();
  expect(pages.items.length).toBe(10_000);
  expect(notices.shown.map(({ text }) => text)).toEqual(["Only the first 10,000 rows were loaded again."]);
});

test("what is loaded for a place further down ends where the list does, by a stop, a failure, and another query", async () => {
  rowsOf(700);
  const pages = new Pages("/interactions");
  await pages.load({}, false);
  expect(await pages.reach(5_000)).toBe(true);
  expect([pages.items.length, pages.more, pages.reaching]).toEqual([700, false, null]);

  rowsOf(9_000);
  await pages.load({}, false);
  const stopped = pages.reach(5_000);
  expect(pages.reaching).toBe(5_000);
  pages.stop();
  expect(await stopped).toBe(false);
  expect(pages.items.length).toBeLessThan(1_000);

  const replaced = pages.reach(5_000);
  void pages.load({ tag_id: 7 }, false);
  expect(await replaced).toBe(false);
  expect(pages.reaching).toBeNull();
  while (pages.loading) await new Promise((done) => setTimeout(done));

  vi.stubGlobal("fetch", () => Promise.reject(new Error("gone")));
  expect(await pages.reach(5_000)).toBe(true);
  expect([pages.problem, pages.reaching]).toEqual(["The service does not answer.", null]);
});

test("rows that two ask for at once are there once, and new ones on top stop nothing", async () => {
  rowsOf(2_000);
  const pages = new Pages("/interactions");
  await pages.load({}, false);
  const [more, reached] = [pages.loadMore(), pages.reach(1_500)];
  void pages.loadNewer();
  await more;
  expect(await reached).toBe(true);
  expect(pages.items.length).toBeGreaterThanOrEqual(1_500);
  expect(new Set(ids(pages)).size).toBe(pages.items.length);
});

test("many tags are estimated first, and the exact count follows", async () => {
  const counts: ((count: object) => Promise<void>)[] = [];
  vi.stubGlobal("fetch", (url: string | URL) => {
    const query = new URL(url, "http://service").searchParams;
    if (query.get("count") !== "true") return Promise.resolve(new Response(JSON.stringify({ items: [{ id: 1 }], next: null })));
    return new Promise<Response>((resolve) => {
      counts.push(async (count) => {
        resolve(new Response(JSON.stringify({ items: [], next: null, ...count })));
        await new Promise((done) => setTimeout(done));
      });
    });
  });
  const pages = new Pages("/tags");
  await pages.load({});
  await counts[0]!({ count: 990_000, count_is_estimate: true });
  expect([pages.count, pages.estimated]).toEqual([990_000, true]);
  await counts[1]!({ count: 987_654 });
  expect([pages.count, pages.estimated]).toEqual([987_654, false]);
});
