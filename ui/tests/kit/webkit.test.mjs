// The page kit in WebKit. Playwright's own WebKit is no package of a system, so this is the browser of WebKitGTK, the
// library of the desktop's window, driven by WebDriver.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "@playwright/test";
import { PATIENCE } from "../screens/browser.mjs";
import { serveUi } from "../screens/served.mjs";
import { files, policy } from "./guide.mjs";
import { site, tagAt } from "./owner.mjs";
import { freePort } from "./ports.mjs";

/** Debian has the browser in a folder of its architecture. */
const binary = readdirSync("/usr/lib")
  .flatMap((folder) => ["/usr/lib", `/usr/lib/${folder}`].map((lib) => `${lib}/webkit2gtk-4.1/MiniBrowser`))
  .find(existsSync);

const running = [];
const start = (program, args, options) => {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"], ...options });
  running.push(child);
  return child;
};

/** A display that nobody sees; its name. */
const display = () =>
  new Promise((named, failed) => {
    const server = start("Xvfb", ["-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    server.once("error", failed);
    server.stdio[3].once("data", (number) => named(`:${String(number).trim()}`));
  });

let ui, owner, session;

/** A command of WebDriver. */
async function command(method, path, body) {
  const answer = await fetch(session + path, { method, ...(body && { body: JSON.stringify(body) }) });
  const { value } = await answer.json();
  assert.ok(answer.ok, JSON.stringify(value));
  return value;
}

const open = (url) => command("POST", "/url", { url });
const address = () => command("GET", "/url");
const script = (script) => command("POST", "/execute/sync", { script, args: [] });
const shows = (text) => expect.poll(() => script("return document.body?.innerText ?? ''"), { timeout: PATIENCE }).toContain(text);

test.beforeAll(async () => {
  assert.ok(binary, "MiniBrowser is missing: it comes with WebKitGTK 4.1");
  ui = await serveUi();
  const pages = await files(ui.service);
  pages.set("please-tap.html", "<!doctype html><title>Tap</title><h1>Please tap</h1>");
  owner = await site(pages, await policy(ui.service));
  const env = { ...process.env, DISPLAY: await display(), WEBKIT_DISABLE_DMABUF_RENDERER: "1", NO_AT_BRIDGE: "1" };
  const port = await freePort();
  start("WebKitWebDriver", [`--port=${port}`], { env });
  session = `http://127.0.0.1:${port}`;
  await expect
    .poll(
      () =>
        fetch(`${session}/status`).then(
          () => true,
          () => false,
        ),
      { timeout: PATIENCE },
    )
    .toBe(true);
  const options = { binary, args: ["--automation"] };
  const { sessionId } = await command("POST", "/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } } });
  session += `/session/${sessionId}`;
});

test.afterAll(async () => {
  if (session?.includes("/session/")) await fetch(session, { method: "DELETE" });
  for (const child of running.reverse()) child.kill();
  owner?.close();
  await ui?.close();
});

test("the pages of the guide work in WebKit", async () => {
  const tag = await tagAt(ui, `${owner.url}/product.html?keep=1#part`);
  await open(tag.tap());
  await shows("Genuine");
  assert.equal(await address(), `${owner.url}/product.html?keep=1#part`);
  await script("document.forms[0].owner.value = 'Anna'; document.forms[0].requestSubmit()");
  await shows("Registered. Thank you.");
  assert.deepEqual(await tag.variables(), { registered: "true", owner: "Anna" });
  await open(`${owner.url}/product.html`);
  await shows("Tap the tag to open this page.");

  const members = await tagAt(ui, `${owner.url}/members.html`);
  await open(members.tap());
  await shows("Welcome");
  await open(`${owner.url}/members.html`);
  await shows("Please tap");
});
