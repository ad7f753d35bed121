// The keyboard that the shell adds to a visitor's page in the kiosk.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

const SCRIPT = new URL("../../../src-tauri/src/kiosk/linux/keyboard.js", import.meta.url);
const PAGE = `<!doctype html><meta http-equiv="Content-Security-Policy" content="style-src 'none'">
  <body><form><input id="name" aria-label="Name"><input id="age" type="number" aria-label="Age"><textarea aria-label="Notes"></textarea>
  <input type="email" aria-label="Email">
  <input type="checkbox" aria-label="Consent"></form></body>`;

/** A page with the keyboard, whose closed tree the test may see. */
async function opened(browser, locale, work) {
  const context = await browser.newContext({ locale, viewport: { width: 1280, height: 720 } });
  try {
    const page = await context.newPage();
    await page.setContent(PAGE);
    await page.evaluate(() => {
      const { attachShadow } = Element.prototype;
      Element.prototype.attachShadow = function (options) {
        return attachShadow.call(this, { ...options, mode: "open" });
      };
    });
    await page.evaluate(await readFile(SCRIPT, "utf8"));
    await work(page);
  } finally {
    await context.close();
  }
}

const press = (page, ...keys) =>
  keys.reduce((before, key) => before.then(() => page.getByRole("button", { name: key, exact: true }).click()), Promise.resolve());

test.describe("The keyboard of a visitor's page", () => {
  test("writes into the field that has the focus, and goes with it", ({ browser }) =>
    opened(browser, "de-DE", async (page) => {
      const name = page.getByLabel("Name");
      await name.click();
      await press(page, "⇧", "Z", "o", "ö", "Space", "a", "⌫");
      assert.equal(await name.inputValue(), "Zoö ");
      for (const key of await page.getByRole("button").all()) {
        const { width, height, x } = await key.boundingBox();
        assert.ok(height >= 44 && width >= 44 && x >= 0 && x + width <= 1280, await key.textContent());
      }
      await press(page, "✓");
      await page.getByRole("button").first().waitFor({ state: "detached" });
    }));

  test("shows digits for a number, and a new line in a long text", ({ browser }) =>
    opened(browser, "en", async (page) => {
      await page.getByLabel("Age").click();
      await press(page, "4", "2");
      assert.equal(await page.getByLabel("Age").inputValue(), "42");
      await page.getByLabel("Notes").click();
      await press(page, "a", "✓", "b");
      assert.equal(await page.getByLabel("Notes").inputValue(), "a\nb");
      await page.getByLabel("Consent").click();
      await page.getByRole("button").first().waitFor({ state: "detached" });
    }));

  test("has Latin letters for an address, in every script", ({ browser }) =>
    opened(browser, "he", async (page) => {
      await page.getByLabel("Email").click();
      await press(page, "a", "@", "b");
      assert.equal(await page.getByLabel("Email").inputValue(), "a@b");
      const name = page.getByLabel("Name");
      await name.click();
      await press(page, "ש", "abc", "a", "אבג", "ל");
      assert.equal(await name.inputValue(), "שaל");
    }));

  test("has the letters of the visitor's language, and leaves a real keyboard alone", ({ browser }) =>
    opened(browser, "ar", async (page) => {
      await page.getByLabel("Name").click();
      await press(page, "س", "ل");
      assert.equal(await page.getByLabel("Name").inputValue(), "سل");
      await page.keyboard.press("x");
      await page.getByRole("button").first().waitFor({ state: "detached" });
      await page.getByLabel("Notes").click();
      assert.equal(await page.getByRole("button").count(), 0);
    }));
});
