// The READMEs of the examples: short, and all in the guide.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { examples, read } from "./example.mjs";

const guide = fileURLToPath(new URL("../../../../service/docs/guides/examples.md", import.meta.url));

test("each example has a README of at most 40 lines, to which the guide leads", async () => {
  const text = await readFile(guide, "utf8");
  const names = await readdir(examples);
  assert.deepEqual(names.sort(), ["n8n", "nextjs", "plain-html", "shopify", "wordpress"]);
  for (const name of names) {
    const lines = (await read(`${name}/README.md`)).trimEnd().split("\n").length;
    assert.ok(lines <= 40, `${name}: ${lines} lines`);
    assert.ok(text.includes(`](../../kit/examples/${name}/README.md)`), name);
  }
});
