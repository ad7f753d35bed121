// The window that the stories of a file have, one after the other. To open one costs as much as half a story: a process
// reads and compiles the screens, axe and what Playwright needs. So a window is emptied for the next story, and what cannot
// be emptied is closed.

import { open, sizes, untouched } from "./browser.mjs";
import { BLANK } from "./served.mjs";

/** What has no opposite, or is the context's. A story that uses it has a window which no other story gets. */
const STAYS = {
  context: [
    "addInitScript",
    "exposeBinding",
    "exposeFunction",
    "newCDPSession",
    "route",
    "setExtraHTTPHeaders",
    "setGeolocation",
    "setOffline",
  ],
  page: ["addLocatorHandler", "exposeBinding", "setExtraHTTPHeaders"],
  clock: ["fastForward", "install", "pauseAt", "resume", "runFor", "setFixedTime", "setSystemTime"],
  keyboard: ["down"],
  mouse: ["down"],
};
/** Their answer takes them back. */
const TAKEN_BACK = ["addInitScript", "exposeFunction"];

/** A new window, and the way to empty it. */
async function emptied(browser, ui, look) {
  const page = await open(browser, ui, look);
  const context = page.context();
  const session = await context.newCDPSession(page);
  const origin = new URL(ui.url).origin;
  const added = [];
  let stays = false;
  const before = (target, names, noted) => {
    for (const name of names) {
      const method = target[name].bind(target);
      target[name] = (...given) => noted(method(...given));
    }
  };
  for (const [part, names] of Object.entries(STAYS)) {
    before(part === "context" ? context : part === "page" ? page : page[part], names, (answer) => {
      stays = true;
      return answer;
    });
  }
  before(page, TAKEN_BACK, (answer) => {
    added.push(answer);
    return answer;
  });
  const ears = [page, context].map((one) => ({ one, own: new Set(listeners(one)) }));

  /** Empties the window, unless something stays in it. */
  async function empty() {
    if (stays || page.isClosed() || new URL(page.url()).origin !== origin) return false;
    for (const { one, own } of ears) {
      for (const name of one.eventNames()) for (const heard of one.rawListeners(name)) if (!own.has(heard)) one.off(name, heard);
    }
    for (const one of added.splice(0)) await (await one).dispose();
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.goto(new URL(BLANK, origin).href);
    // Both are of the window, and not of what it stores.
    await page.evaluate(() => {
      sessionStorage.clear();
      window.name = "";
    });
    const forget = (address) => session.send("Storage.clearDataForOrigin", { origin: new URL(address).origin, storageTypes: "all" });
    await Promise.all([
      forget(ui.url),
      forget(ui.service),
      context.clearCookies(),
      context.clearPermissions(),
      session.send("Page.resetNavigationHistory"),
      page.emulateMedia({ media: null, colorScheme: "light", reducedMotion: "reduce", forcedColors: "none", contrast: "no-preference" }),
      page.setViewportSize(sizes[0]),
      page.mouse.move(-1, -1),
    ]);
    untouched(page);
    return true;
  }
  return { page, empty };
}

const listeners = (one) => one.eventNames().flatMap((name) => one.rawListeners(name));

/** The windows of the stories of a file on `ui`, which are empty at the smallest size. */
export function windows(browser, ui, look) {
  let last;
  const close = async () => last?.page.context().close();
  return {
    async next() {
      if (!(await last?.empty().catch(() => false))) {
        await close();
        last = await emptied(browser, ui, look);
      }
      return last.page;
    },
    close,
  };
}
