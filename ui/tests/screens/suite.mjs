// What every file of screens shares: one service with a history, one browser,
// and axe over every state of every screen in both themes and the sizes of windows.

import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { findings, scaled, sizes, themes, within } from "./browser.mjs";
import { covered } from "./covered.mjs";
import { serveUi } from "./served.mjs";
import { slowClient } from "./slow.mjs";
import { windows } from "./windows.mjs";
import { serveWorld, tell } from "./world.mjs";

const [small, medium, large] = sizes;

/** The tests that `make test-variants` runs in place of `make test`. */
const VARIANTS = "@variants";

/**
 * The looks of a state, once it is reached: that costs more than to change the window and the theme. The
 * smallest window has its content scaled, too. axe costs most of all: by turns it looks at the most of a state in one
 * theme, and at the least of the next one in the other. In `make soak` it looks at every theme in every size.
 */
const looks = (turn) =>
  process.env.TAPDESK_TEST_LENGTH === "soak"
    ? [small, medium, large, scaled(small, 150).viewport].flatMap((size) => themes.map((theme) => ({ size, theme, axe: true })))
    : [
        { size: small, theme: "light" },
        { size: medium, theme: "light" },
        { size: large, theme: "light", axe: turn % 2 === 0 },
        { size: scaled(small, 150).viewport, theme: "dark", axe: turn % 2 === 1 },
      ];

/** How much wider than the window the page is, once what listens to the size of the window has drawn. */
const wider = (page) =>
  page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => done(document.documentElement.scrollWidth - innerWidth))),
      ),
  );

/** How much wider than the window the page stays. A list beside a button finds its place only after the window has changed. */
async function excess(page) {
  // To wait costs more than to look, and most pages fit at once.
  if ((await wider(page)) <= 0) return 0;
  const fits = () => document.documentElement.scrollWidth <= innerWidth;
  return page.waitForFunction(fits, null, { timeout: 10_000 }).then(
    () => 0,
    () => wider(page),
  );
}

/** What is wrong with a state in all looks. In the last one, of the least room, the focus goes to all that takes it. */
async function faults(page, turn) {
  const found = [];
  let current = themes[0];
  for (const { size, theme, axe } of looks(turn)) {
    await page.setViewportSize(size);
    // Also the same theme again is all the page's styles again.
    if (theme !== current) await page.emulateMedia({ colorScheme: theme });
    current = theme;
    const look = `${theme}, ${size.width}x${size.height}`;
    const wide = await excess(page);
    if (wide > 0) found.push(`${look}: ${wide}px wider than the window`);
    if (axe) found.push(...(await findings(page)).map((finding) => `${look}: ${finding}`));
  }
  return [...found, ...(await covered(page))];
}

/**
 * Declares the tests of a group of screens. `states` are ways to come to one:
 * each is given a page. `stories` are tests of their own, on a page at the
 * smaller size. Both are given the world with its API. `listen` is where the
 * service listens, if others than this computer reach it; `options` are further
 * options of the service, as environment variables.
 */
export function group(name, { states = {}, stories = {}, empty = false, listen = undefined, options = undefined }) {
  test.describe(name, () => {
    let ui, shown, world;

    test.beforeAll(async ({ browser }) => {
      // One after the other, so that what was started is ended when the next thing does not start.
      if (empty || listen || options) {
        ui = await serveUi(listen, options);
        world = { ui, ...(empty ? {} : await tell(ui)) };
      } else ({ ui, world } = await serveWorld());
      if (world.api) world = { ...world, api: slowClient(world.api) };
      shown = windows(browser, ui, { at: world.now });
    });

    test.afterAll(async () => {
      await shown?.close();
      await ui?.close();
    });

    // After a failure Playwright starts another process: the next story has a browser and a service of its own.
    const opened = async (work) => within(await shown.next(), (page) => work(page, world));

    if (Object.keys(states).length > 0)
      test("is accessible in every size and theme", { tag: VARIANTS }, () =>
        opened(async (page) => {
          // All of them at once: faults often come together.
          const found = [];
          for (const [turn, [state, show]] of Object.entries(states).entries()) {
            await page.setViewportSize(small);
            await page.emulateMedia({ colorScheme: themes[0] });
            await show(page, world);
            found.push(...(await faults(page, turn)).map((fault) => `${state}, ${fault}`));
          }
          assert.deepEqual(found, []);
        }),
      );

    for (const [story, tell] of Object.entries(stories)) test(story, () => opened(tell));
  });
}
