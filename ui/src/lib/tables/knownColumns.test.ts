import { afterEach, expect, test, vi } from "vitest";

const stored = new Map<string, string>();
vi.stubGlobal("localStorage", {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
});

const { isSameTable, knownFor, mappingBy, rememberColumns } = await import("./knownColumns");

afterEach(() => stored.clear());

const bottles = { name: "bottles.xlsx", headings: ["Bezeichnung", "Kurzlink", "Notiz"], mapping: ["name", "slug", ""] };

test("the meanings of columns are known for the next table with the same headings", () => {
  rememberColumns(bottles);
  const [known] = knownFor(bottles.headings);
  expect(known).toEqual(bottles);
  expect(isSameTable(known!, bottles.headings)).toBe(true);
  // In another order, and without a column, the table is offered by its name.
  const shorter = ["Kurzlink", "Bezeichnung"];
  expect(knownFor(shorter)).toEqual([bottles]);
  expect(isSameTable(bottles, shorter)).toBe(false);
  expect(mappingBy(bottles, shorter)).toEqual(["slug", "name"]);
  expect(knownFor(["Kurzlink", "Preis"])).toEqual([]);
});

test("the last import of the same headings counts, and 50 tables are known", () => {
  rememberColumns(bottles);
  rememberColumns({ ...bottles, name: "bottles 2.xlsx", mapping: ["title", "slug", ""] });
  expect(knownFor(bottles.headings).map(({ name, mapping }) => [name, mapping[0]])).toEqual([["bottles 2.xlsx", "title"]]);
  for (let number = 0; number < 60; number++) rememberColumns({ ...bottles, name: `${number}.csv`, headings: [`${number}`] });
  expect(knownFor(["59"])).toHaveLength(1);
  expect(knownFor(["9"])).toEqual([]);
});
