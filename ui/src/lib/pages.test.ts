import { afterEach, expect, test, vi } from "vitest";
import { Pages } from "./pages.svelte";

vi.mock("./desktop", () => ({ serviceBase: "" }));
afterEach(() => vi.unstubAllGlobals());

/** A service whose answers come when they are let go, in any order. */
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
