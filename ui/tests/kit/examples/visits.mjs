// The visits of a page behind a tap. All examples have the same words for them.

import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { findings, PATIENCE } from "../../screens/browser.mjs";
import { tagAt } from "../owner.mjs";

export const WORDS = {
  genuine: "Genuine",
  notVerified: "Not verified",
  notChecked: "Not checked",
  none: "Tap your product",
  expired: "Time is up",
  unreachable: "No connection",
};

/** A name with characters that markup, forms and PHP treat in their own way. */
const OWNER = `Zoë & "O'Neil" \\`;

const heading = (page, name) => page.getByRole("heading", { name, exact: true }).waitFor();
const says = (page, text) => page.getByText(text, { exact: true }).waitFor();

/** The key of a tap, as it stands in the address of the owner's page. */
async function keyOf(url) {
  const location = (await fetch(url, { redirect: "manual" })).headers.get("location");
  return new URL(location).searchParams.get("rk");
}

async function register(page, owner) {
  await page.getByLabel("Your name").fill(owner);
  await page.getByRole("button", { name: "Register" }).click();
}

/**
 * A phone at one page of an example. `target` is where the experience leads, `shown` the address that the visitor sees,
 * `gate` the network between the example and the service. Errors in the console fail the visit, except expected ones.
 */
export async function visits(browser, { ui, gate, target, shown, expected = [] }) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  const said = [];
  page.on("pageerror", (error) => said.push(error.message));
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  const tag = await tagAt(ui, target);
  const withKey = (rk) => `${target}${target.includes("?") ? "&" : "?"}rk=${encodeURIComponent(rk)}`;
  try {
    await registers(page, { tag, shown, requests, withKey });
    await otherVerdicts(page, { tag, target });
    await broken(page, { tag, gate, withKey });
    const bare = await tagAt(ui, target, {});
    await page.goto(bare.tap());
    await heading(page, WORDS.genuine);
    await register(page, "Anna");
    await says(page, "This product cannot be registered yet. Please contact us.");
    const late = await keyOf(tag.tap());
    await tag.api.post("/clock", { advance_ms: 300_000 });
    await page.goto(withKey(late));
    await heading(page, WORDS.expired);
    assert.doesNotMatch(await page.content(), /fake/i);
    const surprising = said.filter(
      (text) => !/favicon|status of 400|net::ERR_|CORS policy/.test(text) && !expected.some((one) => one.test(text)),
    );
    assert.deepEqual(surprising, []);
  } finally {
    await page.context().close();
  }
}

/** A verified tap: its key leaves the address bar and reaches no script, and the product is registered once. */
async function registers(page, { tag, shown, requests, withKey }) {
  const rk = await keyOf(tag.tap());
  requests.length = 0;
  await page.goto(withKey(rk));
  await heading(page, WORDS.genuine);
  await heading(page, tag.name);
  assert.equal(page.url(), shown);
  assert.doesNotMatch(await page.content(), new RegExp(rk));
  assert.equal(await page.evaluate(() => document.cookie), "");
  // Apart from the page's own address, and the script of the kit, which sends the key to the service in Base64.
  assert.deepEqual(
    requests.filter((url) => url.includes(rk)),
    [withKey(rk)],
  );
  assert.deepEqual(await findings(page), []);
  await register(page, OWNER);
  await says(page, "Registered. Thank you.");
  assert.deepEqual(await tag.variables(), { registered: "true", owner: OWNER });
  assert.ok(await page.getByRole("button", { name: "Register" }).isHidden());
  // The visitor opens the page again, and another name is another update.
  await page.goto(withKey(rk));
  await heading(page, WORDS.genuine);
  await register(page, "Bob");
  await says(page, "This tap has registered the product already. To change it, tap the tag again.");
  assert.equal((await tag.variables()).owner, OWNER);
}

async function otherVerdicts(page, { tag, target }) {
  const isHidden = () => page.getByRole("button", { name: "Register", includeHidden: true }).isHidden();
  const copied = tag.tap();
  await fetch(copied, { redirect: "manual" });
  for (const [url, words] of [
    [copied, WORDS.notVerified],
    [tag.plain, WORDS.notChecked],
  ]) {
    await page.goto(url);
    await heading(page, words);
    assert.ok(await isHidden(), words);
    assert.deepEqual(await findings(page), [], words);
  }
  await page.context().clearCookies();
  await page.goto(target);
  await heading(page, WORDS.none);
  assert.ok(await isHidden());
  assert.deepEqual(await findings(page), []);
}

/** Nothing answers, and then it does. */
async function broken(page, { tag, gate, withKey }) {
  gate.closed = /./;
  await page.goto(withKey(await keyOf(tag.tap())));
  await heading(page, WORDS.unreachable);
  gate.closed = null;
  const again = page.getByRole("button", { name: "Try again" }).or(page.getByRole("link", { name: "Try again" }));
  await again.click();
  await heading(page, WORDS.genuine);
  const { owner } = await tag.variables();
  gate.closed = /interactions\/data/;
  await page.clock.install();
  await register(page, "Carla");
  // The script of the kit goes on for 20 seconds; a server gives up before.
  const lost = page.getByText("No connection. Please register again: nothing is stored twice.");
  const passed = async () => {
    await page.clock.runFor(5_000);
    return lost.isVisible();
  };
  await expect.poll(passed, { timeout: PATIENCE }).toBe(true);
  assert.equal((await tag.variables()).owner, owner);
  gate.closed = null;
  await register(page, "Carla");
  await says(page, "Registered. Thank you.");
  assert.equal((await tag.variables()).owner, "Carla");
}
