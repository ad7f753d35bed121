import { beforeAll, expect, test, vi } from "vitest";

vi.mock("../shell/shell.svelte", () => ({ shell: { ready: { connection: { id: "here" } } } }));
vi.mock("../window/router.svelte", () => ({ href: (screen: string, _: null, query: object) => `#/${screen}?${JSON.stringify(query)}` }));
const store = new Map<string, string>();
beforeAll(() =>
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => store.get(key) ?? null,
    setItem: (key: string, value: string) => store.set(key, value),
  }),
);

const { sameView, viewed, viewsOf, withView } = await import("./views");

test("a view is its filters and its order, and nothing else of the address", () => {
  expect(viewed({ q: "crate", status: "", sort: "name", new: "tag", part: "taps" })).toEqual({ q: "crate", sort: "name" });
  expect(sameView({ q: "a", sort: "name" }, { sort: "name", q: "a", part: "inlay" })).toBe(true);
  expect(sameView({ q: "a" }, { q: "b" })).toBe(false);
});

test("one of the same name is replaced, and the list is in the order of names", () => {
  const views = withView(withView([], { name: "b", query: { q: "1" } }), { name: "a", query: { q: "2" } });
  expect(views.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(withView(views, { name: "a", query: { q: "3" } })).toEqual([
    { name: "a", query: { q: "3" } },
    { name: "b", query: { q: "1" } },
  ]);
});

test("views are kept over restarts, those of each screen apart", () => {
  viewsOf("tags").save([{ name: "a", query: { q: "1" } }]);
  expect(viewsOf("tags").load()).toEqual([{ name: "a", query: { q: "1" } }]);
  expect(viewsOf("inlays").load()).toEqual([]);
  store.set("views tags here", "{broken");
  expect(viewsOf("tags").load()).toEqual([]);
});
