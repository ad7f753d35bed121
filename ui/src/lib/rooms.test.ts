import { expect, test } from "vitest";

const sources = import.meta.glob<string>("./**/*.{ts,svelte}", { query: "?raw", import: "default", eager: true });

/** Each import of a room that is not for it, by file. */
function strays(room: string, others: readonly string[]): string[] {
  return Object.entries(sources)
    .filter(([file]) => file.startsWith(`./${room}/`) && !file.includes("/mounted/") && !file.endsWith(".test.ts"))
    .flatMap(([file, source]) =>
      [...source.matchAll(/from "(\.[^"]+)"/g)]
        .map(([, path]) => new URL(path!, `file:///${file}`).pathname)
        .filter((path) => others.some((other) => path.startsWith(`/${other}/`)))
        .map((path) => `${file}: ${path}`),
    );
}

test("what forms and lists are made of knows neither the shell nor a tag", () => {
  expect(strays("ui", ["shell", "tap", "inlays", "reader"])).toEqual([]);
});
