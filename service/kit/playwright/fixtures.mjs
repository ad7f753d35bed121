// Fixtures for Playwright: a service for each worker, and an inlay for each test. Types are in fixtures.d.mts.

import { test as base } from "@playwright/test";
import { start } from "./service.mjs";

export { expect } from "@playwright/test";

/** The page that taps open. A path is one of the site under test. */
function target(page, baseURL) {
  const path = page ?? (baseURL && "/");
  if (path === undefined) throw new Error("tapdesk: name the page that taps open in the option tapPage, or a baseURL.");
  if (!path.startsWith("/")) return path;
  if (!baseURL) throw new Error(`tapdesk: tapPage is the path ${path}, which needs a baseURL.`);
  // Not resolved by URL, which would encode macros.
  return baseURL.replace(/\/+$/, "") + path;
}

/** Sends a page's requests to `from` to the service instead. */
async function redirect(context, from, service) {
  const { origin } = new URL(from);
  await context.route(
    (url) => url.origin === origin,
    async (route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: service.url + pathname + search, maxRedirects: 0 }) });
    },
  );
}

export const test = base.extend({
  tapdeskCommand: [undefined, { option: true, scope: "worker" }],
  tapdeskSeed: [1, { option: true, scope: "worker" }],
  tapdeskUrl: [undefined, { option: true }],
  tapPage: [undefined, { option: true }],
  tapTag: [{}, { option: true }],

  service: [
    async ({ tapdeskCommand, tapdeskSeed }, use) => {
      const service = await start({ command: tapdeskCommand, seed: tapdeskSeed });
      try {
        await use(service);
      } finally {
        await service.end();
      }
    },
    { scope: "worker" },
  ],

  inlay: async ({ service, context, tapdeskUrl, tapPage, tapTag, baseURL }, use) => {
    if (tapdeskUrl) await redirect(context, tapdeskUrl, service);
    await use(await service.inlay({ page: target(tapPage, baseURL), tag: tapTag }));
  },
});
