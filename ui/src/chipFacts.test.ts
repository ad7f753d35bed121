// Facts about chips are in the service's table only: a copy of them here would drift from it. So no
// code names a chip, a family of chips or a key scheme, except where this test says why.

import { expect, test } from "vitest";
import { knownChips } from "./lib/inlays/knownChips";

const sources = import.meta.glob<string>(["./**/*.{ts,svelte}", "!./**/*.test.ts", "!./mounted/**", "!./lib/api/schema.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

const schemes = knownChips.derivations.map(({ usual }) => usual.scheme);
const known = new Set<string>([...knownChips.items.flatMap(({ technology, family }) => [technology, family]), ...schemes]);

/** The words of each file that may be there, and why. */
const allowed: Record<string, { words: readonly string[]; why: string }> = {
  "lib/inlays/technologies.ts": { words: ["ntag424dna"], why: "the chip that forms begin with" },
  "lib/inlays/derivations.ts": {
    words: [...schemes, "ntag424"],
    why: "the names and descriptions of schemes, and the one that forms begin with",
  },
  "routes/settings/DerivationFields.svelte": {
    words: ["boltcard", "sdm_backend", "ntag424_crate"],
    why: "labels: a version is a card's counter in one scheme, and a year in another",
  },
  "routes/move/sources.ts": { words: ["boltcard", "sdm_backend"], why: "presets of other services' tables, which have these names" },
};

/** The known words of a text, and words that begin like the name of a chip. */
const namesIn = (source: string) =>
  [...source.matchAll(/(?<![\w-])[a-z][a-z0-9_]*/g)]
    .map(([word]) => word)
    .filter((word) => known.has(word) || /^(ntag|sic43|mifare)/.test(word));

test("no code has facts about chips of its own", () => {
  const strays = Object.entries(sources).flatMap(([name, source]) => {
    const file = name.slice("./".length);
    const words = allowed[file]?.words ?? [];
    return namesIn(source).flatMap((word) => (words.includes(word) ? [] : [`${file}: ${word}`]));
  });
  expect(strays).toEqual([]);
});

test("each exception is needed", () => {
  for (const [file, { words }] of Object.entries(allowed)) {
    const found = namesIn(sources[`./${file}`] ?? "");
    for (const word of words) expect(found, `${file}: ${word}`).toContain(word);
  }
});

test("a name is found in code, and not in a product's name or within another word", () => {
  expect(namesIn('familyOf(chip) === "ntag424"; chip.startsWith("ntag")')).toEqual(["ntag424", "ntag"]);
  expect(namesIn("An NTAG 424 DNA; encryptag; /work/my-ntag213")).toEqual([]);
});
