// The window that the stories of a file have, one after the other. To open one costs as much as half a story: its process
// reads and compiles the screens, axe, and Playwright's own code. So a window is emptied for the next story, and one that
// cannot be emptied is closed.

import { open, sizes, untouched } from "./browser.mjs";
import { BLANK } from "./served.mjs";

/** Methods whose effect stays, by the part of the window that has them. After one of them, the next story has another window. */
const staying = (page) => [
  [
    page.context(),
    ["addInitScript", "exposeBinding", "exposeFunction", "newCDPSession", "route", "setExtraHTTPHeaders", "setGeolocation", "setOffline"],
  ],
  [page, ["addLocatorHandler", "exposeBinding", "setExtraHTTPHeaders"]],
  [page.clock, ["fastForward", "install", "pauseAt", "resume", "runFor", "setFixedTime", "setSystemTime"]],
  [page.keyboard, ["down"]],
  [page.mouse, ["down"]],
];
/** Methods of a page whose answer takes their effect back. */
const TAKEN_BACK = ["addInitScript", "exposeFunction"];

/** Notes each answer of these methods with `note`. */
function watch(part, names, note) {
  for (const name of names) {
    const method = part[name].bind(part);
    part[name] = (...given) => {
      const answer = method(...given);
      note(answer);
      return answer;
    };
  }
}

const listeners = (part) => part.eventNames().flatMap((name) => part.rawListeners(name).map((listener) => ({ name, listener })));

/** A new window, and the way to empty it. */
async function reusable(browser, ui, look) {
  const page = await open(browser, ui, look);
  const context = page.context();
  const session = await context.newCDPSession(page);
  const origin = new URL(ui.url).origin;
  const added = [];
  let stays = false;
  for (const [part, names] of staying(page)) watch(part, names, () => (stays = true));
  watch(page, TAKEN_BACK, (answer) => added.push(answer));
  const heard = [page, context].map((part) => ({ part, own: new Set(listeners(part).map(({ listener }) => listener)) }));
  const forget = (address) => session.send("Storage.clearDataForOrigin", { origin: new URL(address).origin, storageTypes: "all" });

  /** Empties the window; false if something stays in it. */
  async function empty() {
    if (stays || page.isClosed() || new URL(page.url()).origin !== origin) return false;
    // A listener of the story would answer the question of a form that was not saved.
    for (const { part, own } of heard) for (const { name, listener } of listeners(part)) if (!own.has(listener)) part.off(name, listener);
    for (const answer of added.splice(0)) await (await answer).dispose();
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    // Here nothing stores any more, and a size and a theme cost next to nothing.
    await page.goto(new URL(BLANK, origin).href);
    await page.evaluate(() => (window.name = ""));
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

/**
 * The windows on `ui` of the stories of a file. `next` answers one of the smallest size, in which nothing is open or stored
 * and nothing is listened to or intercepted. `at` is the time in it.
 */
export function windows(browser, ui, { at } = {}) {
  let last;
  const close = async () => last?.page.context().close();
  return {
    async next() {
      if (!(await last?.empty().catch(() => false))) {
        await close();
        last = await reusable(browser, ui, { at });
      }
      return last.page;
    },
    close,
  };
}
