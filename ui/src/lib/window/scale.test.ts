import { beforeEach, expect, test, vi } from "vitest";

const sent: number[] = [];
vi.mock("../shell/desktop", () => ({ inDesktop: true, setScale: (percent: number) => void sent.push(percent) }));

const kept = new Map<string, string>();
vi.stubGlobal("localStorage", {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
  removeItem: (key: string) => void kept.delete(key),
});

/** The choice in a page that is loaded now. */
async function loaded() {
  vi.resetModules();
  return (await import("./scale.svelte")).scale;
}

beforeEach(() => {
  kept.clear();
  sent.length = 0;
});

test("the scale goes by steps, and stays between the smallest and the largest", async () => {
  const scale = await loaded();
  expect(sent).toEqual([]);
  for (const _ of Array(8)) scale.larger();
  expect(sent).toEqual([110, 125, 150, 175, 200, 200, 200, 200]);
  for (const _ of Array(9)) scale.smaller();
  expect(scale.percent).toBe(80);
  scale.reset();
  expect(scale.percent).toBe(100);
});

test("the scale is kept over a start, and one that nobody can choose is not", async () => {
  (await loaded()).choose(150);
  sent.length = 0;
  expect((await loaded()).percent).toBe(150);
  expect(sent).toEqual([150]);
  for (const wrong of ["0", "1000", "abc", "151"]) {
    kept.set("scale", wrong);
    expect((await loaded()).percent).toBe(100);
  }
});
