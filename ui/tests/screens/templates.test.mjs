// Pictures of the templates as a visitor's phone shows them, light and dark, in
// the states that each has. Like those of the screens they are written to
// target/screenshots, and with UPDATE_SCREENSHOTS=1 to the documents.

import assert from "node:assert/strict";
import { mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { PATIENCE, themes } from "./browser.mjs";
import { Inlay } from "./inlay.mjs";
import { serveUi } from "./served.mjs";
import { client } from "./world.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const files = join(root, "service/data/templates");
const looked = join(root, "target/screenshots");
const kept = join(root, "ui/screenshots");

const button = (name) => (page) => page.getByRole("button", { name }).click();
const saved = (page) => page.getByText("Saved. Thank you.").waitFor();

/**
 * Template, state, and how a visitor comes to it; `tap` is `verified` or
 * `replayed` if the tag has an inlay, `kept` names the picture of the documents.
 */
const states = [
  ["product-registration", "new", { kept: "light" }],
  [
    "product-registration",
    "registered",
    {
      kept: "light",
      async visit(page) {
        await page.getByLabel("Your name").fill("Ada Lovelace");
        await page.getByLabel("Email").fill("ada@example.com");
        await page.getByLabel("When did you buy it?").fill("14 March 2026");
        await button("Register")(page);
        await saved(page);
      },
    },
  ],
  ["authenticity", "verified", { tap: "verified", kept: "dark" }],
  ["authenticity", "not-verified", { tap: "replayed" }],
  ["authenticity", "not-checked", {}],
  ["warranty", "in-force", {}],
  ["warranty", "claimed", { variables: { claim: "It leaks" } }],
  ["event-check-in", "outside", {}],
  [
    "event-check-in",
    "inside",
    {
      kept: "dark",
      async visit(page) {
        await button("Check in now")(page);
        await saved(page);
      },
    },
  ],
  ["manual", "opened", {}],
  ["feedback", "asked", {}],
  ["feedback", "answered", { variables: { rating: "Wonderful" } }],
  ["lost-and-found", "found", {}],
  ["lost-and-found", "told", { variables: { found_where: "At the café beside the station" } }],
  ["loyalty-stamp", "six", { variables: { stamps: "6" }, kept: "light" }],
  ["loyalty-stamp", "full", { variables: { stamps: "9" } }],
  ["story", "opened", { kept: "light" }],
  ["service-log", "with-an-entry", {}],
  ["service-log", "empty", { variables: { serviced_on: "" } }],
  [
    "lost-and-found",
    "over",
    {
      async visit(page) {
        await page
          .locator("[name=rolling_key]")
          .first()
          .evaluate((field) => (field.value = "b3Zlcg=="));
        await page.getByLabel("Where is it now?").fill("Here");
        await button("Tell its owner")(page);
        await page.getByRole("heading", { name: "Please tap again" }).waitFor();
      },
    },
  ],
];

let ui, browser, api, templates;

test.beforeAll(async ({ browser: chromium }) => {
  browser = chromium;
  ui = await serveUi();
  api = client(ui);
  const read = async (name) => JSON.parse(await readFile(join(files, name), "utf8"));
  const all = await Promise.all((await readdir(files)).map(read));
  templates = new Map(all.map((template) => [template.name, template]));
  await mkdir(looked, { recursive: true });
});

test.afterAll(async () => {
  await ui?.close();
});

test("every template has a picture", () => {
  assert.deepEqual(new Set(states.map(([name]) => name)), new Set(templates.keys()));
});

/** The address of a tap of the template's sample tag. */
async function address({ experience, variables, sample }, number, { tap, variables: own } = {}) {
  const made = await api.post("/experiences", experience);
  const { id, slug } = await api.post("/tags", {
    name: sample.title,
    title: sample.title,
    experience_id: made.id,
    attributes: sample.attributes,
    data: sample.data,
    variables: { ...variables, ...sample.variables, ...own },
  });
  if (!tap) return `${ui.service}/t/${slug}`;
  const inlay = new Inlay(`04DE5F1EAC${number.toString(16).toUpperCase().padStart(4, "0")}`, "5".repeat(32));
  await api.post("/inlays", { uid: inlay.uid, technology: "ntag424dna", mirror: "plain", tag_id: id, file_key: "5".repeat(32) });
  const query = inlay.read();
  if (tap === "replayed") await api.tap(slug, query);
  return `${ui.service}/t/${slug}${query}`;
}

let number = 0;
for (const [name, state, options] of states) {
  for (const theme of themes) {
    test(`a picture of ${name}, ${state}, ${theme}`, async () => {
      const context = await browser.newContext({
        viewport: { width: 390, height: 844 },
        deviceScaleFactor: 2,
        colorScheme: theme,
        reducedMotion: "reduce",
        locale: "en-GB",
      });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      await page.goto(await address(templates.get(name), ++number, options));
      await options.visit?.(page);
      const file = join(looked, `phone-${name}-${state}-${theme}`);
      await page.screenshot({ path: `${file}.png` });
      assert.ok((await stat(`${file}.png`)).size > 10_000, "it shows next to nothing");
      if (options.kept === theme && process.env.UPDATE_SCREENSHOTS) {
        const session = await context.newCDPSession(page);
        const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
        await writeFile(join(kept, `phone-${name}-${state}.webp`), Buffer.from(data, "base64"));
      }
      await page.screenshot({ path: `${file}-whole.png`, fullPage: true });
      await context.close();
    });
  }
}
