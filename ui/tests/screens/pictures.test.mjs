// Pictures of every screen, in target/screenshots, to be looked at. `make soak` takes them. With
// UPDATE_SCREENSHOTS=1 those in the documents are replaced, too, as WebP files. With
// EVERY_SCREENSHOT=1 all screens and dialogs are taken, in both themes and two sizes.

import assert from "node:assert/strict";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { on, open, themes } from "./browser.mjs";
import { guides } from "./guide_pictures.mjs";
import { more } from "./more_pictures.mjs";
import { pictures, small } from "./pictures.mjs";
import { serveUi } from "./served.mjs";
import { tell } from "./world.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const looked = join(root, "target/screenshots");
const kept = join(root, "ui/screenshots");

const usual = { width: 1280, height: 800 };
const wide = { width: 1440, height: 900 };

let ui, browser, world, empty;

test.beforeAll(async ({ browser: chromium }) => {
  browser = chromium;
  ui = await serveUi();
  empty = await serveUi();
  world = { ui, ...(await tell(ui)) };
  await mkdir(looked, { recursive: true });
  await mkdir(kept, { recursive: true });
});

test.afterAll(async () => {
  await Promise.all([ui?.close(), empty?.close()]);
});

async function picture(service, name, show, { theme, size = usual, readme = false } = {}) {
  await on(await open(browser, service, { theme, size, at: service === ui ? world.now : undefined }), async (page) => {
    await show(page, world);
    // The port differs with every run.
    await page.evaluate(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8787");
    });
    const file = join(looked, `${name}.png`);
    await page.screenshot({ path: file });
    assert.ok((await stat(file)).size > 10_000, `${name} shows next to nothing`);
    if (readme && process.env.UPDATE_SCREENSHOTS) {
      const session = await page.context().newCDPSession(page);
      const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
      await writeFile(join(kept, `${name}.webp`), Buffer.from(data, "base64"));
    }
  });
}

const every = process.env.EVERY_SCREENSHOT === "1";

if (every) {
  // A screen of two pictures is one way: each is taken in each theme and size.
  const ways = new Map([...pictures, ...more, ...guides].map(([name, show]) => [name.replaceAll(/-(small|large|dark)/g, ""), show]));
  for (const [name, show] of ways) {
    for (const theme of themes) {
      for (const size of [small, wide]) {
        test(`a picture of ${name}, ${theme}, ${size.width}`, () => picture(ui, `${name}-${theme}-${size.width}`, show, { theme, size }));
      }
    }
  }
} else {
  for (const [name, show, options] of [...pictures, ...guides]) test(`a picture of ${name}`, () => picture(ui, name, show, options));
}

for (const screen of ["overview", "tags", "experiences", "interactions", "submissions", "simulator"]) {
  const show = async (page) => {
    await page.show(screen);
    if (screen === "overview") await page.getByRole("heading", { name: "First steps" }).waitFor();
  };
  test(`a picture of ${screen} without anything to show`, () =>
    picture(empty, `${screen}-empty`, show, { theme: screen === "tags" ? "dark" : "light", readme: screen === "overview" }));
}
