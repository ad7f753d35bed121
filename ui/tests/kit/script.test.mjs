// The script is small, made from its source, and the one that the guide pins.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { files, integrities, integrityOf, setIntegrity } from "./guide.mjs";
import { kit, minified } from "./minified.mjs";

test("the script is made from its source, has at most 4 KB, and the guide and its examples pin it", async () => {
  const made = await minified();
  if (process.env.UPDATE_KIT) {
    await writeFile(`${kit}tapdesk.min.js`, made);
    await setIntegrity(integrityOf(made));
  }
  assert.equal(await readFile(`${kit}tapdesk.min.js`, "utf8"), made, "run UPDATE_KIT=1 npx playwright test kit/script");
  assert.ok(made.length <= 4096, `${made.length} bytes`);
  const integrity = integrityOf(made);
  assert.deepEqual(await integrities(), Array(4).fill(integrity));
});

test("the npm package has its types, and a page and a server can import it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tapdesk-kit-"));
  const run = (command, ...args) => execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", 2] });
  try {
    const [{ filename, files: packed }] = JSON.parse(run("npm", "pack", "--json", "--offline", "--pack-destination", folder, kit));
    const names = packed.map(({ path }) => path).sort();
    const server = ["tapdesk.d.mts", "tapdesk.mjs", "tapdesk.php", "tapdesk.py"].map((name) => `server/${name}`);
    assert.deepEqual(names, ["package.json", ...server, "tapdesk.d.mts", "tapdesk.min.js", "tapdesk.mjs"]);
    const installed = join(folder, "node_modules/tapdesk");
    run("mkdir", "-p", installed);
    run("tar", "-xzf", filename, "-C", installed, "--strip-components=1");
    await writeFile(join(folder, "bundled.mts"), (await files("http://127.0.0.1")).get("bundled.mjs"));
    await writeFile(join(folder, "typed.mts"), TYPED);
    const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
    const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom"];
    run(process.execPath, tsc, ...options, "bundled.mts", "typed.mts");
    // Node has no page: the import of the page's part does nothing there.
    const script =
      'import("tapdesk").then(async (kit) => console.log(Object.keys(kit).join(), Object.keys(await import("tapdesk/server")).join()))';
    assert.equal(run(process.execPath, "-e", script).trim(), "guard,tap tap,update,verifyWebhook");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Each error that is expected makes the types stricter than "anything". */
const TYPED = `
import { guard, tap } from "tapdesk";
import { update, verifyWebhook } from "tapdesk/server";
const found = await tap();
const verified: boolean | null = found.verified;
const { reason } = await found.update({ registered: true });
if (reason === "unknown_variable") await guard({ fail: "/", onpass: ({ tag }) => tag?.name });
// @ts-expect-error: a value is text, a number or a boolean
await found.update({ registered: null });
// @ts-expect-error: "fake" is no reason
if (found.reason === "fake") throw verified;
await update("https://tags.example.com", "key", { registered: "true" });
verifyWebhook("whsec_", {}, "").type.length;
`;
