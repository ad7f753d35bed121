// The window of a story: as good as a new one after every story before it.

import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { sizes } from "./browser.mjs";
import { serveUi } from "./served.mjs";
import { windows } from "./windows.mjs";

let ui, shown;

test.beforeAll(async ({ browser }) => {
  ui = await serveUi();
  shown = windows(browser, ui);
});

test.afterAll(async () => {
  await shown?.close();
  await ui?.close();
});

/** All that a document and its window could have from a story before. */
const found = async (page) => ({
  size: page.viewportSize(),
  windows: page.context().pages().length,
  permissions: await page.evaluate(async () => (await navigator.permissions.query({ name: "clipboard-read" })).state),
  ...(await page.evaluate(() => ({
    stored: [localStorage.getItem("tapdesk.left"), sessionStorage.getItem("tapdesk.left")],
    cookies: document.cookie,
    name: window.name,
    history: history.length,
    added: ["script", "noted"].filter((name) => name in window),
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    print: matchMedia("print").matches,
    calm: matchMedia("(prefers-reduced-motion: reduce)").matches,
  }))),
});

/** Leaves as much as a story can. */
async function leaveAll(page) {
  page.heard = [];
  page.on("request", (request) => page.heard.push(request.url()));
  page.on("dialog", (dialog) => dialog.dismiss());
  await page.context().grantPermissions(["clipboard-read"]);
  await page.addInitScript(() => (window.script = true));
  await page.exposeFunction("noted", () => true);
  await page.setViewportSize(sizes[2]);
  await page.emulateMedia({ media: "print", colorScheme: "dark", reducedMotion: "no-preference" });
  await page.show("tags?new=tag");
  await page.evaluate(() => {
    localStorage.setItem("tapdesk.left", "1");
    sessionStorage.setItem("tapdesk.left", "1");
    document.cookie = "left=1";
    window.name = "left";
    window.open("about:blank");
    // As a form that was not saved does.
    addEventListener("beforeunload", (event) => event.preventDefault());
  });
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Left");
  await page.route("**/admin/v1/**", (route) => route.abort());
  page.broken.push("left");
}

test("has nothing of the story before", async () => {
  const page = await shown.next();
  await page.show("overview");
  const expected = await found(page);
  await leaveAll(page);
  const next = await shown.next();
  assert.equal(next, page, "it is the same window");
  const heard = page.heard.length;
  await next.show("overview");
  assert.deepEqual(await found(next), expected);
  assert.deepEqual([next.broken, page.heard.length], [[], heard]);
  // A request that ended as the window was emptied may be noted late.
  assert.deepEqual(
    next.refused.filter((one) => !one.includes("ERR_ABORTED")),
    [],
  );
  // The same function again is no second one.
  await next.exposeFunction("noted", () => true);
});

test("is another one after a story whose traces stay", async () => {
  for (const leave of [
    (page) => page.clock.install(),
    (page) => page.context().setOffline(true),
    (page) => page.context().newCDPSession(page),
    (page) => page.keyboard.down("Shift"),
    (page) => page.goto(`${ui.service}/health`),
    (page) => page.close(),
  ]) {
    const page = await shown.next();
    await leave(page);
    const next = await shown.next();
    assert.notEqual(next, page, String(leave));
    await next.show("overview");
  }
});
