// The guide's servers in three languages, between taps and webhooks of a running service.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { PATIENCE } from "../screens/browser.mjs";
import { serveUi } from "../screens/served.mjs";
import { client } from "../screens/world.mjs";
import { files } from "./guide.mjs";
import { kit } from "./minified.mjs";
import { tagAt } from "./owner.mjs";
import { freePort } from "./ports.mjs";

const languages = {
  JavaScript: { file: "mjs", command: () => ["node", "shop.mjs"] },
  Python: { file: "py", command: () => ["python3", "-B", "shop.py"] },
  PHP: { file: "php", command: (port) => ["php", "-S", `127.0.0.1:${port}`, "shop.php"] },
};

/** Two updates of Anna and one of Bob, with one idempotency key; the arguments are the service and the rolling key. */
const repeats = {
  JavaScript: [
    "node",
    "--input-type=module",
    "-e",
    `import { update } from "./tapdesk.mjs";
     const [service, rk] = process.argv.slice(1);
     for (const owner of ["Anna", "Anna", "Bob"]) console.log((await update(service, rk, { owner }, "one")).reason);`,
  ],
  Python: [
    "python3",
    "-B",
    "-c",
    `import sys, tapdesk
for owner in ["Anna", "Anna", "Bob"]: print(tapdesk.update(sys.argv[1], sys.argv[2], {"owner": owner}, "one")["reason"])`,
  ],
  PHP: [
    "php",
    "-r",
    `require "tapdesk.php";
     foreach (["Anna", "Anna", "Bob"] as $owner) echo Tapdesk\\update($argv[1], $argv[2], ["owner" => $owner], "one")["reason"], "\\n";`,
  ],
};

let ui;

test.beforeAll(async () => (ui = await serveUi(undefined, { TAPDESK_PRIVATE_WEBHOOKS: "true" })));
test.afterAll(() => ui?.close());

const answers = (url) =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** Starts the guide's server with the helper beside it; `said` is its output. */
async function start({ file, command }, port, secret, work, service = ui.service) {
  const folder = await mkdtemp(join(tmpdir(), "tapdesk-shop-"));
  let child;
  try {
    await copyFile(`${kit}server/tapdesk.${file}`, join(folder, `tapdesk.${file}`));
    await writeFile(join(folder, `shop.${file}`), (await files(ui.service)).get(`shop.${file}`));
    const [program, ...rest] = command(port);
    const env = { ...process.env, TAPDESK_URL: service, WEBHOOK_SECRET: secret, PORT: `${port}` };
    child = spawn(program, rest, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const failed = new Promise((_, reject) =>
      child.once("error", (error) => reject(new Error(`${program}: ${error.message}; see .make/setup`))),
    );
    const shop = { url: `http://127.0.0.1:${port}`, said: "" };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (shop.said += text));
    const listens = expect.poll(() => answers(shop.url), { timeout: PATIENCE }).toBe(true);
    await Promise.race([listens, failed]);
    await work(shop);
  } finally {
    if (child?.pid && child.exitCode === null && child.kill()) await new Promise((ended) => child.once("exit", ended));
    await rm(folder, { recursive: true, force: true });
  }
}

/** The answer of the shop to which a tap leads. */
async function opened(url) {
  const tap = await fetch(url, { redirect: "manual" });
  const location = tap.headers.get("location");
  return { location, found: await (await fetch(location)).json() };
}

for (const [language, how] of Object.entries(languages)) {
  test(`a server in ${language} trades keys, updates, and verifies webhooks`, async () => {
    const lines = (await readFile(`${kit}server/tapdesk.${how.file}`, "utf8")).split("\n").length;
    assert.ok(lines < 150, `${lines} lines`);
    const api = client(ui);
    const port = await freePort();
    const { secret } = await api.post("/webhooks", { url: `http://127.0.0.1:${port}/hook`, events: ["tap.verified"] });
    const work = async (shop) => {
      const tag = await tagAt(ui, shop.url);
      const url = tag.tap();
      const { location, found } = await opened(url);
      assert.deepEqual(found, { verified: true, reason: "ok", saved: "saved" });
      assert.equal((await tag.variables()).registered, "true");
      // The key is used, and can still be traded.
      assert.deepEqual(await (await fetch(location)).json(), { verified: true, reason: "ok", saved: "used" });
      assert.deepEqual((await opened(url)).found, { verified: false, reason: "ok", saved: false });
      assert.deepEqual((await opened(tag.plain)).found, { verified: null, reason: "ok", saved: false });
      const bare = await tagAt(ui, shop.url, {});
      assert.equal((await opened(bare.tap())).found.saved, "unknown_variable");
      for (const [rk, reason] of [
        ["", "none"],
        ["?rk=%3Cscript%3E%C3%A9", "expired"],
      ])
        assert.deepEqual(await (await fetch(shop.url + rk)).json(), { verified: null, reason, saved: false });

      // The service signs; a stranger does not.
      await expect.poll(() => shop.said, { timeout: PATIENCE }).toContain("tap.verified");
      const now = `${Math.floor(Date.now() / 1000)}`;
      for (const headers of [
        {},
        { "webhook-id": "1", "webhook-timestamp": now, "webhook-signature": "v1,AAAA v1a,AAAA" },
        { "webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": "v1," },
        { "webhook-id": "1", "webhook-timestamp": "9".repeat(5_000), "webhook-signature": "v1," },
      ]) {
        const forged = await fetch(shop.url, { method: "POST", headers, body: "{}" });
        assert.equal(forged.status, 400);
      }
    };
    // As people copy an address.
    await start(how, port, secret, work, `${ui.service}/`);
  });

  test(`an update in ${language} is repeated with an idempotency key of its own`, async () => {
    const tag = await tagAt(ui, "https://shop.example.com/");
    const { headers } = await fetch(tag.tap(), { redirect: "manual" });
    const rk = new URL(headers.get("location")).searchParams.get("rk");
    const [program, ...rest] = repeats[language];
    const { stdout } = await promisify(execFile)(program, [...rest, `${ui.service}/`, rk], { cwd: `${kit}server` });
    assert.deepEqual(stdout.trim().split("\n"), ["saved", "saved", "used"]);
    assert.equal((await tag.variables()).owner, "Anna");
  });

  test(`a server in ${language} survives a service that is none, and a secret that is missing`, async () => {
    const http = (head, body) => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n${head}\r\n${body}`;
    const broken = ["no HTTP\r\n\r\n", http("content-length: 9\r\n", "[1"), http("content-length: 4\r\n", "null")];
    let asked = 0;
    const stub = createServer((connection) => {
      connection.on("error", () => undefined);
      connection.once("data", () => connection.end(broken[asked++ % broken.length]));
    });
    await new Promise((listening) => stub.listen(0, "127.0.0.1", listening));
    try {
      const service = `http://127.0.0.1:${stub.address().port}`;
      const port = await freePort();
      const work = async (shop) => {
        const found = await (await fetch(`${shop.url}/?rk=key`)).json();
        assert.deepEqual(found, { verified: null, reason: "unreachable", saved: false });
        assert.equal(asked, broken.length);
        // Signed with an empty key, as anyone can.
        const now = `${Math.floor(Date.now() / 1000)}`;
        const signature = `v1,${createHmac("sha256", "").update(`1.${now}.{}`).digest("base64")}`;
        const headers = { "webhook-id": "1", "webhook-timestamp": now, "webhook-signature": signature };
        const forged = await fetch(shop.url, { method: "POST", headers, body: "{}" });
        assert.equal(forged.status, 400);
      };
      await start(how, port, "", work, service);
    } finally {
      stub.close();
    }
  });
}
