// The order of the folders. Tests are exempt: they may use any folder.

import { expect, test } from "vitest";

const sources = import.meta.glob<string>(["./**/*.{ts,svelte}", "!./**/*.test.ts", "!./mounted/**", "!./lib/api/schema.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

interface Import {
  file: string;
  /** The imported file, without its ending if the import has none. */
  path: string;
}

/** Imports within this folder, as paths from here: "lib/ui/List.svelte". Includes those of types. */
const imports: Import[] = Object.entries(sources).flatMap(([name, source]) => {
  const file = name.slice("./".length);
  const paths = [...source.matchAll(/(?:\bfrom|\bimport)[\s(]*"(\.[^"]+)"/g)].map(([, path]) => new URL(path!, `file:///${file}`).pathname);
  return paths.map((path) => ({ file, path: path.slice("/".length) }));
});

/** The name of a folder of `lib` or `routes` that contains a file; `null` for other files. */
function folderOf(file: string, parent: "lib" | "routes"): string | null {
  const [first, folder, inside] = file.split("/");
  return first === parent && inside !== undefined ? folder! : null;
}

const words = ({ file, path }: Import) => `${file} imports ${path}`;

/** For each folder, the folders that it imports, with one import of each. */
type Graph = Map<string, Map<string, Import>>;

const graphOf = (all: readonly Import[]): Graph => {
  const graph: Graph = new Map();
  for (const one of all) {
    const [from, to] = [folderOf(one.file, "lib"), folderOf(one.path, "lib")];
    if (from === null || to === null || from === to) continue;
    graph.set(from, (graph.get(from) ?? new Map<string, Import>()).set(to, one));
  }
  return graph;
};

/** The imports of one circle, one line each; empty if there is none. */
function circleIn(graph: Graph): string[] {
  const done = new Set<string>();
  function search(folder: string, path: string[]): string[] {
    const at = path.indexOf(folder);
    if (at >= 0) return [...path.slice(at), folder];
    if (done.has(folder)) return [];
    for (const next of graph.get(folder)?.keys() ?? []) {
      const found = search(next, [...path, folder]);
      if (found.length > 0) return found;
    }
    done.add(folder);
    return [];
  }
  const circle = [...graph.keys()].map((folder) => search(folder, [])).find((found) => found.length > 0) ?? [];
  return circle.slice(1).map((to, index) => `${circle[index]} → ${to}: ${words(graph.get(circle[index]!)!.get(to)!)}`);
}

test("the folders of lib do not import each other in a circle", () => {
  expect(graphOf(imports).size).toBeGreaterThan(5);
  expect(circleIn(graphOf(imports))).toEqual([]);
});

test("a circle is found, and named with one import of each folder", () => {
  const [tap, form, name] = ["lib/tap/Tap.svelte", "lib/ui/Form.svelte", "lib/window/name"];
  const straight = [
    { file: tap, path: form },
    { file: form, path: name },
    { file: tap, path: name },
  ];
  expect(circleIn(graphOf(straight))).toEqual([]);
  expect(circleIn(graphOf([...straight, { file: `${name}.ts`, path: tap }]))).toEqual([
    "tap → ui: lib/tap/Tap.svelte imports lib/ui/Form.svelte",
    "ui → window: lib/ui/Form.svelte imports lib/window/name",
    "window → tap: lib/window/name.ts imports lib/tap/Tap.svelte",
  ]);
});

test("no route imports another, and no folder of lib imports a route", () => {
  const strays = imports.filter(({ file, path }) => {
    const route = folderOf(file, "routes");
    return path.startsWith("routes/") && (file.startsWith("lib/") || (route !== null && folderOf(path, "routes") !== route));
  });
  expect(strays.map(words)).toEqual([]);
});

test("forms and lists know neither the shell nor a tag", () => {
  const strays = imports.filter(({ file, path }) => {
    const to = folderOf(path, "lib");
    return folderOf(file, "lib") === "ui" && to !== null && !["api", "format", "ui", "window"].includes(to);
  });
  expect(strays.map(words)).toEqual([]);
});
