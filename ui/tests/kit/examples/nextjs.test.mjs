// The example for Next.js: its route handlers as modules, and at long lengths the whole in Next.js itself.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "@playwright/test";
import { serveUi } from "../../screens/served.mjs";
import { tagAt } from "../owner.mjs";
import { freePort } from "../ports.mjs";
import { copy, examples, helper, read } from "./example.mjs";
import { gateTo } from "./gate.mjs";
import { start } from "./running.mjs";
import { visits } from "./visits.mjs";

const isSoak = process.env.TAPDESK_TEST_LENGTH === "soak";
const SHOP = "https://shop.example.com";
/** The name of the service's address in the environment of the shop. */
const ADDRESS = "TAPDESK_URL";

const load = (path) => import(pathToFileURL(join(examples, "nextjs", path)).href);

let ui, gate;

test.beforeAll(async () => {
  ui = await serveUi();
  gate = await gateTo(ui.service);
  process.env[ADDRESS] = gate.url;
});

test.afterAll(async () => {
  delete process.env[ADDRESS];
  gate?.close();
  await ui?.close();
});

/** Opens an address of the shop that has a key; answers the cookie. */
async function opened(rk) {
  const { GET } = await load("app/tap/route.js");
  const answer = GET(new Request(`${SHOP}/tap?${new URLSearchParams({ rk, other: "1" })}`));
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get("location"), "/product");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  return answer.headers.get("set-cookie");
}

/** Sends the form; answers the reason to which it leads. */
async function sent(owner, cookie, headers = {}) {
  const { POST } = await load("app/register/route.js");
  const body = new URLSearchParams({ owner });
  const answer = await POST(new Request(`${SHOP}/register`, { method: "POST", body, headers: { ...(cookie && { cookie }), ...headers } }));
  return answer.status === 303 ? /^\/product\?answer=(\w+)$/.exec(answer.headers.get("location"))[1] : answer.status;
}

const keyOf = async (url) => new URL((await fetch(url, { redirect: "manual" })).headers.get("location")).searchParams.get("rk");
const kept = (cookie) => cookie.split(";")[0];

test("a key moves from the address into a cookie that no script can read", async () => {
  const tag = await tagAt(ui, `${SHOP}/tap`);
  const rk = await keyOf(tag.tap());
  assert.equal(await opened(rk), `tapdesk_key=${rk}; Max-Age=300; Path=/; HttpOnly; SameSite=Lax`);
  assert.match(await opened("é; Path=/evil\r\n"), /^tapdesk_key=%C3%A9%3B%20Path%3D%2Fevil%0D%0A; Max-Age/);
  for (const none of ["", "x".repeat(10_000)]) assert.equal(await opened(none), null);
});

test("the form registers the product once, and a second click gets the same answer", async () => {
  const tag = await tagAt(ui, `${SHOP}/tap`);
  const rk = await keyOf(tag.tap());
  const cookie = `theme=dark; ${kept(await opened(rk))}`;
  assert.deepEqual(await Promise.all([sent("Anna", cookie), sent(" Anna ", cookie)]), ["saved", "saved"]);
  assert.equal(await sent("Anna", cookie), "saved");
  assert.equal(await sent("Bob", cookie), "used");
  assert.deepEqual(await tag.variables(), { registered: "true", owner: "Anna" });
});

test("the form is of no use without a verified tap", async () => {
  const tag = await tagAt(ui, `${SHOP}/tap`);
  const copied = tag.tap();
  const first = kept(await opened(await keyOf(copied)));
  for (const url of [copied, tag.plain]) assert.equal(await sent("Anna", kept(await opened(await keyOf(url)))), "expired");
  for (const cookie of ["", "tapdesk_key=", "tapdesk_key=%E0%A4%A", "tapdesk_key=x"]) assert.equal(await sent("Anna", cookie), "expired");
  for (const owner of ["", "  ", "x".repeat(201)]) assert.equal(await sent(owner, first), "invalid");
  assert.equal(await sent("Anna", first, { "sec-fetch-site": "cross-site" }), 403);
  assert.equal(await sent("Anna", first, { "content-type": "application/json" }), "invalid");
  gate.closed = /./;
  assert.equal(await sent("Anna", first), "unreachable");
  gate.closed = null;
  assert.equal((await tag.variables()).registered, "false");
});

test("each answer of the helper has words, and other ones have none", async () => {
  const { answerOf, verdictOf } = await load("lib/words.mjs");
  for (const reason of ["saved", "used", "expired", "unknown_variable", "unreachable", "invalid"]) assert.ok(answerOf(reason), reason);
  for (const reason of [undefined, "", "toString", "__proto__", ["saved", "used"]]) assert.equal(answerOf(reason), null);
  for (const verified of [true, false, null]) assert.ok(verdictOf({ reason: "ok", verified }).title);
  for (const reason of ["none", "expired", "unreachable"]) assert.ok(verdictOf({ reason, verified: null }).title);
});

test("the helper in the example for Next.js is the one of the kit", async () => {
  assert.equal(await read("nextjs/lib/tapdesk.mjs"), await helper("tapdesk.mjs"), "copy it from service/kit/server");
  assert.equal(await read("nextjs/app/style.css"), await read("plain-html/style.css"));
});

if (isSoak)
  test("the example handles every visit in Next.js", async ({ browser }) => {
    const folder = await mkdtemp(join(tmpdir(), "tapdesk-nextjs-"));
    let shop;
    try {
      await copy("nextjs", folder);
      const env = { NEXT_TELEMETRY_DISABLED: "1", [ADDRESS]: gate.url };
      const npm = (...args) =>
        execFileSync("npm", args, { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
      npm("ci", "--no-audit", "--no-fund");
      npm("run", "build");
      const port = await freePort();
      // Another site than the service, as it is for an owner.
      const url = `http://localhost:${port}`;
      shop = await start("node_modules/.bin/next", ["start", "--port", `${port}`], { url, cwd: folder, env });
      const answer = await fetch(`${url}/product`);
      assert.match(
        answer.headers.get("content-security-policy"),
        /^default-src 'none'; script-src 'nonce-[^']+' 'strict-dynamic'; style-src 'self'; /,
      );
      assert.deepEqual([answer.headers.get("referrer-policy"), answer.headers.get("x-powered-by")], ["no-referrer", null]);
      await visits(browser, { ui, gate, target: `${url}/tap`, shown: `${url}/product` });
      assert.doesNotMatch(shop.said, /rk=|tapdesk_key/);
    } finally {
      await shop?.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
