// The example for plain HTML: its files as they are, from any web server.

import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { serveUi } from "../../screens/served.mjs";
import { site } from "../owner.mjs";
import { files } from "./example.mjs";
import { gateTo } from "./gate.mjs";
import { visits } from "./visits.mjs";

let ui, gate, owner;

test.beforeAll(async () => {
  ui = await serveUi();
  gate = await gateTo(ui.service);
  // The page has a policy of its own; this is the part that only a header can have.
  owner = await site(await files("plain-html", gate.url), "frame-ancestors 'none'");
});

test.afterAll(async () => {
  owner?.close();
  gate?.close();
  await ui?.close();
});

test("the example for plain HTML handles every visit", ({ browser }) =>
  visits(browser, { ui, gate, target: `${owner.url}/index.html`, shown: `${owner.url}/index.html` }));

test("the example for plain HTML allows no other script", async () => {
  const page = (await files("plain-html", gate.url)).get("index.html");
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page);
  assert.match(policy, /^default-src 'none'; script-src 'self' http:\/\/127\.0\.0\.1:\d+; /);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(page, /<script>|<style>| on\w+=| style=/);
});
