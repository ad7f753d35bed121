// What every file of screens shares: one service with a history, one browser,
// and axe over every state of every screen in both themes and three sizes.

import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { findings, on, open, sizes, themes } from "./browser.mjs";
import { serveUi } from "./served.mjs";
import { tell } from "./world.mjs";

/** Each size once, in themes that take turns; each theme at each size in `make soak`. */
const soak = process.env.TAPDESK_TEST_LENGTH === "soak";
const looks = sizes.flatMap((size, number) => (soak ? themes : [themes[number % themes.length]]).map((theme) => ({ theme, size })));

/**
 * Declares the tests of a group of screens. `states` are ways to come to one:
 * each is given a page. `stories` are tests of their own, on a page at the
 * smaller size. Both are given the world with its API.
 */
export function group(name, { states = {}, stories = {}, empty = false }) {
  test.describe(name, () => {
    let ui, browser, world;

    test.beforeAll(async ({ browser: chromium }) => {
      browser = chromium;
      // One after the other, so that what was started is ended when the next thing does not start.
      ui = await serveUi();
      world = { ui, ...(empty ? {} : await tell(ui)) };
    });

    test.afterAll(async () => {
      await ui?.close();
    });

    const opened = async (options, work) => on(await open(browser, ui, { ...options, at: world.now }), (page) => work(page, world));

    for (const { theme, size } of looks) {
      test(`is accessible, ${theme}, ${size.width}x${size.height}`, () =>
        opened({ theme, size }, async (page) => {
          // All of them at once: one fault seldom comes alone.
          const found = [];
          for (const [state, show] of Object.entries(states)) {
            await show(page, world);
            found.push(...(await findings(page)).map((finding) => `${state}: ${finding}`));
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(wide <= 0, `${state} is ${wide}px wider than the window`);
          }
          assert.deepEqual(found, []);
        }));
    }

    for (const [story, tell] of Object.entries(stories)) test(story, () => opened({}, tell));
  });
}
