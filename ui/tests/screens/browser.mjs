// A window on the screens, and what tests do in it.

import assert from "node:assert/strict";
import { chromium } from "@playwright/test";
import { chromiumOptions } from "./chromium.mjs";
import { AXE, axeSource } from "./served.mjs";
import { slowProcessor } from "./slow.mjs";

export const launch = () => chromium.launch(chromiumOptions());

export const sizes = [
  { width: 1024, height: 700 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
];
/** A window of this size with its content scaled: fewer pixels of the page, each larger. */
export const scaled = ({ width, height }, percent) => ({
  viewport: { width: Math.floor((width * 100) / percent), height: Math.floor((height * 100) / percent) },
  deviceScaleFactor: percent / 100,
});

export const themes = ["light", "dark"];

/** How long a test waits for a screen that does not come; a slow machine is no failure. */
export const PATIENCE = 60_000;

/** A new window on `ui`; `scale` is its percentage, as the desktop scales the web view. What breaks in it is in `page.broken`, what it is refused in `page.refused`. */
export async function open(browser, ui, { theme = "light", size = sizes[0], scale = 100, at } = {}) {
  const context = await browser.newContext({ ...scaled(size, scale), colorScheme: theme, reducedMotion: "reduce", locale: "en-GB" });
  const page = await context.newPage();
  await slowProcessor(page);
  page.served = ui.url;
  untouched(page);
  page.on("pageerror", (error) => page.broken.push(error.message));
  page.on("response", (answer) => answer.ok() || page.refused.push(`${answer.status()} ${answer.url()}`));
  page.on("requestfailed", (request) => page.refused.push(`${request.failure()?.errorText} ${request.url()}`));
  if (at) await page.clock.setFixedTime(at);
  await forTrying(page, ui);
  page.show = async (place) => {
    // A new place of the same address is no new document: each has an address of its own.
    const document = page.shown++ === 0 ? "" : `?${page.shown}`;
    await page.goto(`${ui.url}${document}#/${place}`);
    await settled(page);
  };
  return page;
}

/** Forgets what was noted about a window. */
export function untouched(page) {
  page.setDefaultTimeout(PATIENCE);
  page.broken = [];
  page.refused = [];
  page.shown = 0;
}

/** Answers the question about the address of a service that only this computer reaches: its chips are for trying. */
const forTrying = (page, { service }) =>
  page.addInitScript(
    (agreed) => {
      try {
        sessionStorage.setItem("tapdesk.agreed-addresses", agreed);
      } catch {
        // A preview is a frame without a storage.
      }
    },
    JSON.stringify([`${service}/t`]),
  );

/** Takes that answer back: the documents from now on ask. */
export const asksAgain = (page) => page.addInitScript(() => window === window.top && sessionStorage.removeItem("tapdesk.agreed-addresses"));

/** Does `work` on the page. A failure contains the state of the page. */
export async function within(page, work) {
  try {
    await work(page);
    assert.deepEqual(page.broken, []);
  } catch (error) {
    const alerts = await page
      .getByRole("alert")
      .allTextContents()
      .catch(() => []);
    error.message += `\nThe page shows ${JSON.stringify(alerts)}, broke with ${JSON.stringify(page.broken)}, was refused ${JSON.stringify(page.refused)}.`;
    throw error;
  }
}

/** The same on a page that is closed then. */
export const on = (page, work) => within(page, work).finally(() => page.context().close());

/** Waits until nothing is being loaded any more. */
export async function settled(page) {
  // Not with each frame, which draws the page sixty times a second while it loads.
  await page.waitForFunction(
    () =>
      document.querySelector("h1, [role=dialog]") !== null &&
      ![...document.querySelectorAll("[role=status]")].some((one) => /Loading|Starting/.test(one.textContent)),
    null,
    { polling: 20 },
  );
}

/** Narrows a list by one of its filters: opens the menu, the filter in it, and chooses. */
export async function narrow(page, filter, choice) {
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: filter, exact: true }).click();
  await page.getByRole("menuitemradio", { name: choice, exact: true }).click();
  await page.getByRole("button", { name: `${filter}: ${choice}`, exact: true }).waitFor();
}

/** Chooses an entry of the menu behind a button. */
export async function choose(page, menu, entry) {
  await page.getByRole("button", { name: menu, exact: true }).click();
  await page.getByRole("menuitem", { name: entry, exact: true }).click();
}

/** Adds a block to the end of a page. */
export const addBlock = (page, block) => choose(page, "Add block: page", block);

/** Selects rows of a list by the names that they have. */
export async function select(page, ...names) {
  for (const name of names) await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
}

/** Brings axe into a frame. A page of the served UI fetches it, since what a window fetched before is compiled. */
async function bring(frame, served) {
  if (await frame.evaluate(() => "axe" in window)) return;
  if (served && frame.url().startsWith(served)) await frame.addScriptTag({ url: AXE });
  else await frame.evaluate(axeSource);
}

/** What axe finds, whatever its impact, in a line each. */
export async function findings(page) {
  // It has no rule here that reads style sheets, and reads them all unless it is asked not to.
  const options = { resultTypes: ["violations"], preload: false };
  // To bring it into a document takes as long as to run it: it stays there.
  await Promise.all(page.frames().map((frame) => bring(frame, page.served)));
  // Only these leave the page: to write down all that passed takes long.
  const violations = await page.evaluate(async (options) => (await globalThis.axe.run(document, options)).violations, options);
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => `${impact} ${id}: ${node.target.join(" ")}: ${node.failureSummary?.split("\n")[1]?.trim()}`),
  );
}
