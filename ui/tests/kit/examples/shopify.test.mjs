// The example for Shopify: its section, rendered by LiquidJS with Shopify's settings, on a page of a shop.

import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { Liquid } from "liquidjs";
import { serveUi } from "../../screens/served.mjs";
import { integrityOf } from "../guide.mjs";
import { site } from "../owner.mjs";
import { files, paths, read } from "./example.mjs";
import { gateTo } from "./gate.mjs";
import { visits } from "./visits.mjs";

const SECTION = "sections/tapdesk.liquid";

/** The engine with the parts of Shopify that the section uses. */
function engine() {
  const liquid = new Liquid({ strictFilters: true });
  liquid.registerFilter("asset_url", (name) => `/${name}`);
  liquid.registerFilter("stylesheet_tag", (url) => `<link rel="stylesheet" href="${url}">`);
  liquid.registerTag("schema", {
    parse(_, remaining) {
      while (remaining.length) if (remaining.shift().name === "endschema") return;
      throw new Error("{% endschema %} is missing");
    },
    render: () => "",
  });
  return liquid;
}

async function schema() {
  const [, text] = /\{% schema %\}(.*)\{% endschema %\}/s.exec(await read(`shopify/${SECTION}`));
  return JSON.parse(text);
}

/** The settings of a section that was just added. */
async function defaults() {
  const { settings } = await schema();
  return Object.fromEntries(settings.filter(({ id }) => id).map(({ id, default: value }) => [id, value ?? ""]));
}

async function rendered(settings, design_mode = false) {
  const section = { settings: { ...(await defaults()), ...settings } };
  return engine().parseAndRender(await read(`shopify/${SECTION}`), { section, request: { design_mode } });
}

const page = (section) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title></head><body><main>${section}</main></body></html>`;

let ui, gate, shop;
const pages = new Map();

test.beforeAll(async () => {
  ui = await serveUi();
  gate = await gateTo(ui.service);
  for (const [path, text] of await files("shopify", gate.url)) pages.set(path.replace("assets/", ""), text);
  pages.set("product.html", page(await rendered({ service: `${gate.url}/` })));
  shop = await site(pages, "object-src 'none'");
});

test.afterAll(async () => {
  shop?.close();
  gate?.close();
  await ui?.close();
});

test("the section for Shopify handles every visit", ({ browser }) =>
  visits(browser, { ui, gate, target: `${shop.url}/product.html?view=tapdesk`, shown: `${shop.url}/product.html?view=tapdesk` }));

test("the schema of the section has each setting once, and the section shows each", async () => {
  const { settings, presets } = await schema();
  assert.equal(presets.length, 1);
  const ids = settings.flatMap(({ id }) => id ?? []);
  assert.equal(new Set(ids).size, ids.length);
  const marked = Object.fromEntries(ids.map((id) => [id, `[${id}]`]));
  const html = await rendered(marked);
  for (const id of ids.filter((id) => id !== "registers")) assert.ok(html.includes(`[${id}]`), `${id} is not shown`);
  // Shopify refuses a file with other types, and an empty default.
  for (const { type, id, default: value } of settings) {
    assert.ok(["text", "textarea", "checkbox", "header"].includes(type), type);
    assert.notEqual(value, "", id);
  }
});

test("hostile settings stay text", async ({ browser }) => {
  const hostile = `"><script>hacked = 1</script><img src=x onerror="hacked = 1">{{ 'x' | upcase }}'`;
  const ids = Object.keys(await defaults());
  const html = await rendered(Object.fromEntries(ids.map((id) => [id, hostile])));
  assert.equal(html.match(/<script/g).length, 2);
  assert.doesNotMatch(html, /<img|\bX\b/);
  pages.set("hostile.html", page(html));
  const visitor = await browser.newPage();
  try {
    await visitor.goto(`${shop.url}/hostile.html`);
    assert.equal(await visitor.locator("h1").textContent(), hostile);
    assert.equal(await visitor.evaluate(() => typeof globalThis.hacked), "undefined");
  } finally {
    await visitor.context().close();
  }
});

test("a section without an address loads nothing, and says so in the theme editor only", async () => {
  for (const service of ["", "  "]) {
    assert.doesNotMatch(await rendered({ service }), /<script|Enter the address/);
    assert.match(await rendered({ service }, true), /Enter the address of your Tapdesk service/);
  }
  assert.doesNotMatch(await rendered({ service: "https://tags.example.com", registers: false }), /<form|data-answer/);
});

test("the section pins the script that the service serves", async () => {
  const served = await (await fetch(`${ui.service}/kit/1/tapdesk.js`)).text();
  assert.ok((await rendered({ service: ui.service })).includes(`integrity="${integrityOf(served)}"`));
  assert.deepEqual((await paths("shopify")).sort(), ["README.md", "assets/tapdesk-section.css", "assets/tapdesk-section.js", SECTION]);
});
