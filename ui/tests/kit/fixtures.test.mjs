// The fixtures for Playwright, as a project of a developer has them: packed, installed, and run.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { start } from "../../../service/kit/playwright/service.mjs";
import { chromiumOptions } from "../screens/chromium.mjs";
import { files } from "./guide.mjs";
import { site } from "./owner.mjs";
import { environment, inProject } from "./project.mjs";

/** The address of the service in the page under test, where nothing listens. */
const IN_PAGE = "https://tags.example.com";

const CONFIG = (baseURL) => `
import { defineConfig } from "@playwright/test";
const launchOptions = ${JSON.stringify(chromiumOptions())};
export default defineConfig({ use: { baseURL: "${baseURL}", tapdeskUrl: "${IN_PAGE}", launchOptions }, workers: 1, reporter: "json" });
`;

const SPEC = `
import { expect, test } from "tapdesk-playwright";

test.use({ tapPage: "/product.html", tapTag: { name: "Grand Cru", variables: { registered: "false", owner: "" } } });

test("tap", async ({ page, inlay, service }) => {
  await inlay.tap(page);
  await expect(page.locator("#verdict")).toHaveText("Genuine");
  await expect(page.locator("#name")).toHaveText("Grand Cru");
  await page.getByLabel("Your name").fill("Anna");
  await page.getByRole("button", { name: "Register" }).click();
  await expect(page.locator("#answer")).toHaveText("Registered. Thank you.");
  expect(await inlay.variables()).toEqual({ registered: "true", owner: "Anna" });
  expect(service.seed).toBe(1);
});

for (const how of ["replayed", "forged", "cloned"])
  test(how, async ({ page, inlay }) => {
    await inlay[how](page);
    await expect(page.locator("#verdict")).toHaveText("Not verified: this address may be a copy");
    await expect(page.locator("#register")).toBeHidden();
    // The genuine inlay is not harmed.
    await inlay.tap(page);
    await expect(page.locator("#verdict")).toHaveText("Genuine");
  });

test("expired", async ({ page, inlay, service }) => {
  await inlay.expired(page);
  await expect(page.locator("#verdict")).toHaveText("Five minutes have passed. Tap the tag again.");
  const later = await service.advance(1_000);
  expect(later.getTime()).toBeGreaterThan(service.startedAt.getTime() + 300_000);
});
`;

/** Each error that is expected makes the types stricter than "anything". */
const TYPED = `
import { expect, test } from "tapdesk-playwright";
import { start } from "tapdesk-playwright/service";
test.use({ tapPage: "/", tapdeskSeed: null, tapTag: { name: "Bottle" } });
test("typed", async ({ page, inlay, service }) => {
  const answer = await inlay.tap(page);
  expect(answer?.status()).toBe(200);
  const url: string = await inlay.url({ tamper: true });
  const uid: string | undefined = service.tags[0]?.inlay?.uid;
  // @ts-expect-error: it is no URL, but a page
  await inlay.cloned(url);
  // @ts-expect-error: there is no such tap
  await inlay.stolen(page, uid);
});
// @ts-expect-error: a seed is a number
await start({ seed: "7" });
`;

test("a test taps genuine, replayed, forged, cloned and expired codes in a line each", async () => {
  const owner = await site(await files(IN_PAGE), `default-src 'none'; script-src 'self' ${IN_PAGE}; connect-src ${IN_PAGE}`);
  try {
    await inProject({ "playwright.config.mjs": CONFIG(owner.url), "product.spec.mjs": SPEC }, async ({ playwright }) => {
      const { stats, errors } = JSON.parse(await playwright("test"));
      assert.deepEqual([errors, stats.expected, stats.unexpected], [[], 5, 0]);
    });
  } finally {
    owner.close();
  }
});

test("the package has its types", () =>
  inProject({ "typed.mts": TYPED }, async ({ folder, run }) => {
    const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
    const options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom"];
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await run(process.execPath, tsc, ...options, "typed.mts");
  }));

test("a service that is missing or does not start says so, and one that was ended is gone", async () => {
  await assert.rejects(start({ command: "/no/tapdesk-service" }), /\/no\/tapdesk-service is not found.*TAPDESK_SERVICE/);
  const command = environment().TAPDESK_SERVICE;
  const service = await start({ command });
  const port = Number(new URL(service.url).port);
  await assert.rejects(start({ command, port }), /dev ended with 1: [^]*tapdesk-service: Port/);
  assert.ok((await fetch(`${service.url}/kit/1/tapdesk.js`)).ok);
  await assert.rejects(service.call("GET", "/no-such-place"), /GET \/no-such-place answered 404/);
  await service.end();
  await service.end();
  await assert.rejects(fetch(`${service.url}/kit/1/tapdesk.js`));
});
