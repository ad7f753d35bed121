// tapdesk.js on pages of an owner, under a strict policy and with its integrity.

import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { serveUi } from "../screens/served.mjs";
import { files, policy } from "./guide.mjs";
import { site, tagAt } from "./owner.mjs";

/** A policy that refuses more than the guide's: also text that becomes markup or script. */
const strict = async (service) => `${await policy(service)}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;

const SCRIPT = /<script src="[^"]+tapdesk\.js"[^>]+><\/script>/;

let ui, owner, pages;

test.beforeAll(async () => {
  ui = await serveUi();
  pages = await files(ui.service);
  const [script] = SCRIPT.exec(pages.get("product.html"));
  const plain = (head, body = "") =>
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>${head}</head><body>${body}</body></html>`;
  pages.set("bare.html", plain(script));
  const other = '<img name="currentScript" src="https://evil.example/kit/1/tapdesk.js">';
  pages.set("named.html", plain("", other + script));
  pages.set("twice.html", plain(script + script));
  pages.set("module.html", plain(script.replace("<script ", '<script type="module" ')));
  pages.set("form.html", plain(`<form id="tapdesk"><input name="guard"></form>${script}`));
  pages.set("open.html", plain(`${script}<script src="open.js"></script>`, "<h1>Secret</h1>"));
  pages.set("open.js", "tapdesk.guard({ timeout: 500, onfail: (tap) => document.body.append(`Sorry: ${tap.verified} ${tap.reason}`) });");
  pages.set("changed.html", pages.get("members.html").replace("sha384-", "sha384-AAAA"));
  pages.set("please-tap.html", plain("", "<h1>Please tap</h1>"));
  owner = await site(pages, await strict(ui.service));
});

test.afterAll(async () => {
  owner?.close();
  await ui?.close();
});

const at = (name, rest = "") => `${owner.url}/${name}${rest}`;

/** A phone. An error in its console fails the test, unless it is expected. */
async function phone(browser, work, expected = []) {
  const page = await browser.newPage();
  const said = [];
  page.on("pageerror", (error) => said.push(error.message));
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  try {
    await work(page);
    const surprising = said.filter((text) => !/favicon/.test(text) && !expected.some((one) => one.test(text)));
    assert.deepEqual(surprising, []);
  } finally {
    await page.context().close();
  }
}

const CONSOLE_400 = /status of 400/;
const verdict = (page, text) => page.locator("#verdict").filter({ hasText: text }).waitFor();
const answer = (page, text) => page.getByText(text, { exact: true }).waitFor();

/** The answer of `tapdesk.tap()`, with the time that is left in milliseconds. */
const tapped = (page, options) =>
  page.evaluate(async (options) => {
    globalThis.last = await globalThis.tapdesk.tap(options);
    const { verified, reason, tag, payload, expiresAt } = globalThis.last;
    return { verified, reason, tag, payload, left: expiresAt && expiresAt - Date.now() };
  }, options);
/** Of the tap that was read last. */
const update = (page, values) => page.evaluate((values) => globalThis.last.update(values), values);

test("the page of the guide registers a product, once", ({ browser }) =>
  phone(
    browser,
    async (page) => {
      const tag = await tagAt(ui, at("product.html"));
      await page.goto(tag.tap());
      await verdict(page, "Genuine");
      await answer(page, tag.name);
      assert.equal(page.url(), at("product.html"));
      await page.getByLabel("Your name").fill("Anna <b>");
      await page.getByRole("button", { name: "Register" }).click();
      await answer(page, "Registered. Thank you.");
      assert.deepEqual(await tag.variables(), { registered: "true", owner: "Anna <b>" });
      await page.getByLabel("Your name").fill("Bob");
      await page.getByRole("button", { name: "Register" }).click();
      await answer(page, "This tap has registered the product already.");
      assert.equal((await tag.variables()).owner, "Anna <b>");
    },
    [CONSOLE_400],
  ));

test("null is not checked, false is not verified, and a reload has no key", ({ browser }) =>
  phone(browser, async (page) => {
    const tag = await tagAt(ui, at("product.html"));
    const copied = tag.tap();
    await fetch(copied, { redirect: "manual" });
    await page.goto(copied);
    await verdict(page, "Not verified: this address may be a copy");
    await page.goto(tag.plain);
    await verdict(page, "Not checked");
    await page.reload();
    await verdict(page, "Tap the tag to open this page.");
    assert.ok(await page.getByRole("button", { name: "Register", includeHidden: true }).isHidden());
  }));

test("the key leaves the address bar and nothing else does", ({ browser }) =>
  phone(browser, async (page) => {
    const tag = await tagAt(ui, `${at("bare.html")}?a=1%202&empty&plus=a+b#part`);
    await page.goto(tag.tap());
    assert.equal(page.url(), at("bare.html", "?a=1%202&empty&plus=a+b#part"));
    const { verified, reason, tag: found, payload, left } = await tapped(page);
    assert.deepEqual([verified, reason, found.id, found.name], [true, "ok", tag.id, tag.name]);
    assert.equal(payload.tag_verified, true);
    assert.ok(left > 200_000 && left <= 300_000, `${left} ms are left`);
    const kept = await page.evaluate(() => [{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state]);
    assert.deepEqual(kept, [{}, {}, "", null]);
    // It can be asked again, since trading a key does not use it up.
    assert.equal((await tapped(page)).verified, true);
    await page.reload();
    assert.deepEqual(await tapped(page), { verified: null, reason: "none", tag: null, payload: null, left: null });
    assert.deepEqual(await update(page, { owner: "Anna" }), { ok: false, reason: "expired" });
  }));

test("a path that begins with two slashes is no other host, and the key leaves it, too", ({ browser }) =>
  phone(browser, async (page) => {
    await page.goto(at("/bare.html", "?rk=x&keep=1"));
    assert.equal(page.url(), at("/bare.html", "?keep=1"));
    assert.equal(await page.evaluate(() => typeof globalThis.tapdesk.tap), "function");
  }));

test("an element with the name of the current script chooses no service", ({ browser }) =>
  phone(
    browser,
    async (page) => {
      const tag = await tagAt(ui, at("named.html"));
      await page.goto(tag.tap());
      await assert.rejects(tapped(page), /name the service/);
      assert.equal((await tapped(page, { service: ui.service })).verified, true);
    },
    [/Content Security Policy/],
  ));

test("a page that loads the script twice keeps its key", ({ browser }) =>
  phone(browser, async (page) => {
    const tag = await tagAt(ui, at("twice.html"));
    await page.goto(tag.tap());
    assert.equal(page.url(), at("twice.html"));
    assert.equal((await tapped(page)).verified, true);
    assert.deepEqual(await update(page, { registered: true }), { ok: true, reason: "saved" });
  }));

test("as a module the script needs the name of the service", ({ browser }) =>
  phone(browser, async (page) => {
    const tag = await tagAt(ui, at("module.html"));
    await page.goto(tag.tap());
    await assert.rejects(tapped(page), /name the service/);
    assert.equal((await tapped(page, { service: ui.service })).verified, true);
  }));

test("an element with the name of the kit is not taken for it", ({ browser }) =>
  phone(browser, async (page) => {
    const tag = await tagAt(ui, at("form.html"));
    await page.goto(tag.tap());
    assert.equal((await tapped(page)).verified, true);
  }));

test("an update names its reason", ({ browser }) =>
  phone(
    browser,
    async (page) => {
      const tag = await tagAt(ui, at("bare.html"));
      const url = tag.tap();
      await page.goto(url);
      assert.equal((await tapped(page)).verified, true);
      assert.deepEqual(await update(page, { nobody: "1" }), { ok: false, reason: "unknown_variable" });
      assert.deepEqual(await update(page, { registered: true }), { ok: true, reason: "saved" });
      // A second click.
      assert.deepEqual(await update(page, { registered: true }), { ok: true, reason: "saved" });
      assert.deepEqual(await update(page, { registered: "false" }), { ok: false, reason: "used" });
      assert.equal((await tag.variables()).registered, "true");
      // The visitor opens the tap again: the key is the same, and this page did not use it.
      await page.goto(url);
      assert.equal((await tapped(page)).verified, true);
      assert.deepEqual(await update(page, { owner: "Anna" }), { ok: false, reason: "used" });
      for (const [values, words] of [
        [{}, "needs a variable"],
        [{ owner: null }, "the value of owner is no text"],
        [{ owner: "x".repeat(5_000) }, "A value is larger than 4 KiB"],
      ])
        await assert.rejects(update(page, values), new RegExp(words));
    },
    [CONSOLE_400, /status of 413/],
  ));

test("a key of five minutes ago is expired", ({ browser }) =>
  phone(
    browser,
    async (page) => {
      const tag = await tagAt(ui, at("bare.html"));
      await page.goto(tag.tap());
      await tapped(page);
      await tag.api.post("/clock", { advance_ms: 300_000 });
      assert.deepEqual(await update(page, { owner: "Anna" }), { ok: false, reason: "expired" });
      const { verified, reason } = await tapped(page);
      assert.deepEqual([verified, reason], [null, "expired"]);
    },
    [CONSOLE_400],
  ));

test("trouble in the network is tried again, and is unreachable in the end", ({ browser }) =>
  phone(
    browser,
    async (page) => {
      const tag = await tagAt(ui, at("bare.html"));
      await page.goto(tag.tap());
      let failures = 0;
      await page.route("**/v2/**", (route) => {
        failures += 1;
        return failures % 2 ? route.abort() : route.fulfill({ status: 502, body: "<h1>Bad gateway</h1>" });
      });
      const lost = await tapped(page, { timeout: 1_000 });
      assert.deepEqual([lost.verified, lost.reason], [null, "unreachable"]);
      assert.ok(failures >= 2, `${failures} attempts`);
      assert.deepEqual(await update(page, { owner: "Anna" }), { ok: false, reason: "unreachable" });
      await page.unroute("**/v2/**");

      // The answer to the update is lost after the service has stored it.
      let lose = 1;
      await page.route("**/v2/interactions/data", async (route) => {
        if (route.request().method() !== "POST" || lose === 0) return route.continue();
        lose -= 1;
        await route.fetch();
        await route.abort();
      });
      assert.equal((await tapped(page)).verified, true);
      assert.deepEqual(await update(page, { owner: "Anna" }), { ok: true, reason: "saved" });
      assert.equal(lose, 0);
    },
    [/Failed to load resource|CORS policy|net::ERR/],
  ));

test("a guarded page is not painted before the check has passed", ({ browser }) =>
  phone(browser, async (page) => {
    const tag = await tagAt(ui, at("members.html"));
    let pass;
    const mayPass = new Promise((passed) => (pass = passed));
    const asked = page.waitForRequest("**/rk_payload*");
    await page.route("**/rk_payload*", async (route) => {
      await mayPass;
      await route.continue();
    });
    await page.goto(tag.tap(), { waitUntil: "domcontentloaded" });
    await asked;
    const painted = () => page.evaluate(() => performance.getEntriesByName("first-contentful-paint").length);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.ok(await page.getByText("Welcome").isHidden());
    assert.equal(await painted(), 0);
    pass();
    await page.getByText("Welcome").waitFor();
    await answer(page, tag.name);
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length === 1);
  }));

test("a guarded page is empty or replaced if the check does not pass", ({ browser }) =>
  phone(
    browser,
    async (page) => {
      const tag = await tagAt(ui, at("members.html"));
      await page.goto(tag.plain);
      await page.getByText("Please tap").waitFor();
      await page.goto(at("members.html"));
      await page.getByText("Please tap").waitFor();
      await page.goto(at("open.html"));
      await answer(page, "Sorry: null none");
      assert.equal(await page.locator("h1").count(), 0);
      await page.route("**/v2/**", (route) => route.abort());
      await page.goto(at("open.html", "?rk=lost"));
      await answer(page, "Sorry: null unreachable");
    },
    [/net::ERR_FAILED/],
  ));

test("a script that was changed does not run, and the page stays hidden", ({ browser }) =>
  phone(
    browser,
    async (page) => {
      await page.goto(at("changed.html", "?rk=x"));
      assert.equal(await page.evaluate(() => typeof globalThis.tapdesk), "undefined");
      assert.ok(await page.getByText("Welcome").isHidden());
    },
    [/integrity/, /tapdesk is not defined/],
  ));

test("text of strangers instead of a key does nothing", ({ browser }) =>
  phone(browser, async (page) => {
    for (const rk of [
      "<img src=x onerror=alert(1)>",
      '"><script>alert(1)</script>',
      "javascript:alert(1)",
      "'-alert(1)-'",
      "\u0000\u2028é🍷",
      "../../admin",
      "x&service=https://evil.example",
      "A".repeat(10_000),
      "",
    ]) {
      await page.goto(at("product.html", `?rk=${encodeURIComponent(rk)}&rk=second&%72k=third&keep=1`));
      await verdict(page, /Five minutes have passed|Tap the tag/);
      assert.equal(page.url(), at("product.html", "?keep=1"));
    }
  }));
