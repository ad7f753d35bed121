// The example for WordPress: its plugin with stand-ins for WordPress, and at long lengths in WordPress itself.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { serveUi } from "../../screens/served.mjs";
import { tagAt } from "../owner.mjs";
import { freePort } from "../ports.mjs";
import { examples, helper, read } from "./example.mjs";
import { gateTo } from "./gate.mjs";
import { start } from "./running.mjs";
import { visits } from "./visits.mjs";
import { wordpress } from "./wordpress/installed.mjs";

const isSoak = process.env.TAPDESK_TEST_LENGTH === "soak";
const router = fileURLToPath(new URL("wordpress/standins.php", import.meta.url));
const plugin = `${examples}wordpress/tapdesk`;
const NONCE = "nonce-of-tapdesk_register";

let ui, gate, blog, product;

test.beforeAll(async () => {
  ui = await serveUi();
  gate = await gateTo(ui.service);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { TAPDESK_URL: gate.url, TAPDESK_PLUGIN: `${plugin}/tapdesk.php`, PHP_CLI_SERVER_WORKERS: "4" };
  // Warnings would be part of the page.
  blog = await start("php", ["-d", "error_reporting=-1", "-d", "display_errors=1", "-S", `127.0.0.1:${port}`, router], { url, env });
  product = `${url}/product`;
});

test.afterAll(async () => {
  await blog?.stop();
  gate?.close();
  await ui?.close();
});

test("the plugin handles every visit", ({ browser }) => visits(browser, { ui, gate, target: product, shown: product }));

const get = async (query, headers = {}) => (await fetch(`${product}?${query}`, { redirect: "manual", headers })).text();
const open = (query, headers = {}) => fetch(`${product}?${query}`, { redirect: "manual", headers });
const keyOf = async (url) => new URL((await fetch(url, { redirect: "manual" })).headers.get("location")).searchParams.get("rk");

/** Sends the form; answers the reason to which it leads. */
async function sent(fields, cookie) {
  const headers = cookie ? { cookie } : {};
  const answer = await fetch(product, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(fields) });
  return new URL(answer.headers.get("location")).searchParams.get("tapdesk_answer");
}

test("the plugin moves a key into a cookie that no script can read", async () => {
  const secure = { "x-test-https": "1" };
  for (const [headers, attribute] of [
    [{}, ""],
    [secure, " secure;"],
  ]) {
    const answer = await open("rk=a%27b&keep=1&tapdesk_answer=saved", headers);
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, `${product}?keep=1`]);
    assert.match(answer.headers.get("cache-control"), /no-store/);
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    const cookie = answer.headers.get("set-cookie").replace(/expires=[^;]+/, "expires=");
    assert.equal(cookie, `tapdesk_key=a%27b; expires=; Max-Age=300; path=/;${attribute} HttpOnly; SameSite=Lax`);
  }
  for (const rk of ["rk=", "rk[]=x", `rk=${"x".repeat(1_000)}`]) {
    const answer = await open(rk);
    assert.deepEqual([answer.status, answer.headers.get("set-cookie")], [303, null], rk);
  }
});

test("the form of the plugin registers once, with its nonce and after a verified tap only", async () => {
  const tag = await tagAt(ui, product);
  const cookieOf = async (url) => `tapdesk_key=${await keyOf(url)}`;
  const url = tag.tap();
  const cookie = await cookieOf(url);
  const owner = "Zoë  O'Neil \\ <b>";
  for (const nonce of ["", "x"]) assert.equal(await sent({ tapdesk_register: nonce, owner }, cookie), "expired");
  assert.equal(await sent({ "tapdesk_register[]": NONCE, owner }, cookie), "expired");
  for (const wrong of ["", "  ", "ß".repeat(201)]) assert.equal(await sent({ tapdesk_register: NONCE, owner: wrong }, cookie), "invalid");
  assert.equal(await sent({ tapdesk_register: NONCE, "owner[]": owner }, cookie), "invalid");
  for (const none of [null, "tapdesk_key[]=x", "tapdesk_key=x", await cookieOf(url), await cookieOf(tag.plain)])
    assert.equal(await sent({ tapdesk_register: NONCE, owner }, none), "expired");
  assert.equal((await tag.variables()).registered, "false");

  const twice = await Promise.all([1, 2].map(() => sent({ tapdesk_register: NONCE, owner }, cookie)));
  assert.deepEqual(twice, ["saved", "saved"]);
  assert.deepEqual(await tag.variables(), { registered: "true", owner: "Zoë O'Neil \\" });
  assert.equal(await sent({ tapdesk_register: NONCE, owner: "Bob" }, cookie), "used");
});

test("the plugin shows nothing that strangers wrote, and nothing in lists", async () => {
  for (const answer of ["tapdesk_answer=%3Cb%3E", "tapdesk_answer[]=saved", "tapdesk_answer=toString"])
    assert.doesNotMatch(await get(answer), /<b>|Registered|Warning|Notice/);
  assert.match(await get("tapdesk_answer=saved"), /Registered\. Thank you\./);
  assert.match(await get("list=1"), /Our product: <\/main>/);
  const nobody = { "x-test-service": "" };
  assert.match(await get("", nobody), /This page is not set up yet/);
  assert.match(await get("", { ...nobody, "x-test-user": "manage_options" }), /enter the address of your service/);
});

test("the settings page is for administrators, and takes scheme and host only", async () => {
  assert.equal(await get("settings=1"), "");
  const hostile = { "x-test-user": "manage_options", "x-test-service": `"><script>` };
  const page = await get("settings=1", hostile);
  assert.match(page, /action="options\.php"><input type="hidden" name="option_page" value="tapdesk">/);
  assert.doesNotMatch(page, /<script>/);
  const sanitized = async (value) => JSON.parse(await get(new URLSearchParams({ sanitize: value })));
  for (const [value, kept] of [
    [" https://tags.example.com/ ", "https://tags.example.com"],
    ["http://127.0.0.1:8787", "http://127.0.0.1:8787"],
    ["https://[::1]:8787", "https://[::1]:8787"],
    ["", ""],
  ])
    assert.deepEqual(await sanitized(value), [kept, []]);
  for (const value of [
    "javascript:alert(1)",
    "tags.example.com",
    "https://tags.example.com/t",
    "https://a@b",
    "file:///etc",
    "https://x\ny",
  ]) {
    const [kept, errors] = await sanitized(value);
    assert.deepEqual([kept, errors.length], [gate.url, 1], value);
  }
});

test("the plugin has the helper of the kit, and one version", async () => {
  assert.equal(await read("wordpress/tapdesk/server/tapdesk.php"), await helper("tapdesk.php"), "copy it from service/kit/server");
  const code = await read("wordpress/tapdesk/tapdesk.php");
  const readme = await read("wordpress/tapdesk/readme.txt");
  for (const [inCode, inReadme] of [
    ["Version", "Stable tag"],
    ["Requires at least", "Requires at least"],
    ["Requires PHP", "Requires PHP"],
  ]) {
    const [version, same] = [`\\* ${inCode}`, inReadme].map(
      (name, index) => new RegExp(`^ ?${name}: (.+)$`, "m").exec([code, readme][index])[1],
    );
    assert.equal(version, same, inCode);
  }
});

if (isSoak)
  test("the plugin handles every visit in WordPress", async ({ browser }) => {
    const site = await wordpress(browser, { plugin, service: gate.url });
    try {
      await visits(browser, { ui, gate, target: site.page, shown: site.page });
      // WordPress complains about itself, and about the network that it does not have.
      const log = await site.log();
      assert.match(log, /wp-includes/);
      assert.doesNotMatch(log, /plugins\/tapdesk|rk=|tapdesk_key/);
    } finally {
      await site.close();
    }
  });
