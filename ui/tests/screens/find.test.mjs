import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { choose, select } from "./browser.mjs";
import { group } from "./suite.mjs";

const button = (page, name) => page.getByRole("button", { name, exact: true });
const option = (page, name) => page.getByRole("option", { name });
const count = (api, query) => api.get(`/tags?count=true&limit=1&${query}`).then((page) => page.count);
/** Adds a filter by an attribute. */
async function byAttribute(page, key) {
  await choose(page, "Filter", "Attribute…");
  await option(page, key).click();
}

/** The texts of a column of the list, by the place of its heading. */
async function column(page, name) {
  const heads = await page.getByRole("columnheader").allTextContents();
  const at = heads.findIndex((head) => head.trim() === name) - 1;
  return page.locator("[data-row] .cells").evaluateAll((rows, at) => rows.map((row) => row.children[at]?.textContent.trim()), at);
}

group("Many tags", {
  states: {
    "the attributes to filter by": async (page) => {
      await page.show("tags");
      await choose(page, "Filter", "Attribute…");
      await option(page, "batch").waitFor();
    },
    "the counted values of an attribute": async (page) => {
      await page.show("tags");
      await byAttribute(page, "sku");
      await option(page, /B-1048/).waitFor();
    },
    "narrowed by an attribute": async (page) => {
      await page.show("tags?attribute.sku=L-1047");
      await page.getByText("Lamp 47").waitFor();
    },
    "the choice of columns": async (page) => {
      await page.show("tags");
      await button(page, "Columns").click();
      await page.getByRole("checkbox", { name: "sku" }).waitFor();
    },
    "the property to set": async (page) => {
      await page.show("tags");
      await select(page, "Bottle 48");
      await choose(page, "Change the tags", "Set a property…");
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "are filtered by the values of their attributes, which are counted": async (page, { api }) => {
      await page.show("tags");
      const all = await count(api, "attribute.batch=2026-A");
      const { items: keys } = await api.get("/tags/attributes");
      const { count: batches } = keys.find(({ key }) => key === "batch");
      await byAttribute(page, new RegExp(`^batch\\s*${batches}$`));
      await option(page, new RegExp(`2026-A\\s*${all}`)).click();
      await button(page, "batch: 2026-A").waitFor();
      assert.match(page.url(), /attribute\.batch=2026-A/);
      await byAttribute(page, "sku");
      await page.getByPlaceholder("Find a value").fill("l-1047");
      await option(page, /^L-1047/).waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("Lamp 47").waitFor();
      await page.waitForFunction(() => document.querySelectorAll("[data-row]").length === 1);
      // Another value of the same attribute is counted without this one.
      await button(page, "sku: L-1047").click();
      await option(page, /B-1048/).click();
      await page.getByText("Bottle 48").waitFor();
      await page.reload();
      await page.getByText("Bottle 48").waitFor();
      await button(page, "Remove filter sku").click();
      await page.getByText("Lamp 47").waitFor();
    },
    "are filtered by the first match, also if it was typed before the values were counted": async (page) => {
      const late = async (path) => {
        let count;
        const counted = new Promise((resolve) => (count = resolve));
        await page.route(`**/admin/v1/tags/${path}?*`, (route) => counted.then(() => route.continue()));
        return count;
      };
      const [keys, values] = [await late("attributes"), await late("values")];
      await page.show("tags");
      await choose(page, "Filter", "Attribute…");
      await page.getByPlaceholder("Find an attribute").fill("sk");
      await page.getByText("Counting…").waitFor();
      keys();
      await option(page, /^sku/).waitFor();
      await page.keyboard.press("Enter");
      await page.getByPlaceholder("Find a value").fill("l-1047");
      await page.getByText("Counting…").waitFor();
      values();
      await option(page, /^L-1047/).waitFor();
      await page.keyboard.press("Enter");
      await button(page, "sku: L-1047").waitFor();
    },
    "are filtered by a value that nobody counted, and by a key that no loaded tag has": async (page, { api }) => {
      const { id } = await api.post("/tags", { name: "Rare thing", attributes: { provenance: "Attic" } });
      await page.show("tags?sort=name");
      await choose(page, "Filter", "Attribute…");
      await page.getByPlaceholder("Find an attribute").fill("provenance");
      await option(page, /provenance/).click();
      await page.getByPlaceholder("Find a value").fill("Cellar");
      await option(page, "Exactly “Cellar”").click();
      await page.getByText("No tag matches").waitFor();
      await button(page, "provenance: Cellar").click();
      await option(page, /Attic/).click();
      await page.getByText("Rare thing").waitFor();
      await api.remove(`/tags/${id}`);
    },
    "have columns of values of any length, cut to one line": async (page, { api }) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      const value = `${"Ä long note ".repeat(90)}end`;
      const tag = await api.post("/tags", { name: "Long note", attributes: { long_note: value } });
      await page.show("tags?q=Long%20note");
      const row = page.locator("[data-row]", { hasText: "Long note" });
      await row.waitFor();
      const { height } = await row.boundingBox();
      await button(page, "Columns").click();
      await page.getByLabel("Key of another attribute").fill("long_note");
      await button(page, "Add").click();
      await page.keyboard.press("Escape");
      const cell = row.getByTitle(value, { exact: true });
      await cell.waitFor();
      assert.equal((await row.boundingBox()).height, height);
      const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
      assert.ok(await page.evaluate(fits));
      assert.ok(await cell.evaluate((one) => one.scrollWidth > one.clientWidth));
      await button(page, "Columns").click();
      await button(page, "Use the standard columns").click();
      await page.keyboard.press("Escape");
      await api.remove(`/tags/${tag.id}`);
    },
    "have columns of the owner's own choice, which stay": async (page) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.show("tags?q=Lamp");
      await button(page, "Columns").click();
      await page.getByRole("checkbox", { name: "sku" }).check();
      await page.getByRole("checkbox", { name: "Slug" }).uncheck();
      await page.keyboard.press("Escape");
      await page.reload();
      await page.getByText("Lamp 47").waitFor();
      assert.equal((await column(page, "sku"))[0], "L-1047");
      assert.equal(await page.getByRole("columnheader", { name: "Slug" }).count(), 0);
      await button(page, "Columns").click();
      // The service lists the keys of all tags, not only of those that the list shows.
      await page.getByRole("checkbox", { name: "batch" }).waitFor();
      await page.getByLabel("Key of another attribute").fill("no key");
      await button(page, "Add").click();
      await page.getByRole("alert").getByText("A key has letters").waitFor();
      await page.getByLabel("Key of another attribute").fill("weight");
      await button(page, "Add").click();
      await page.getByRole("columnheader", { name: "weight" }).waitFor();
      await button(page, "Use the standard columns").click();
      await page.getByRole("columnheader", { name: "weight" }).waitFor({ state: "detached" });
      await page.getByRole("columnheader", { name: "Slug" }).waitFor();
    },
    "sort by the heading of an attribute, with the values of groups": async (page, { api }) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      const product = await api.post("/groups", { kind: "product", name: "Graded goods", attributes: { grade: "B" } });
      const made = [];
      for (const more of [{ group_id: product.id }, { attributes: { grade: "A" } }, {}])
        made.push(await api.post("/tags", { name: `Graded ${made.length + 1}`, ...more }));
      await page.show("tags?q=Graded");
      await page.getByText("Graded 3").waitFor();
      await button(page, "Columns").click();
      await page.getByRole("checkbox", { name: "grade", exact: true }).check();
      await page.keyboard.press("Escape");
      const heading = page.getByRole("columnheader", { name: "grade" });
      const sorted = async (sort, direction, names, grades) => {
        await heading.getByRole("button").click();
        await page.waitForFunction(
          (names) => [...document.querySelectorAll("[data-row] .name")].map((cell) => cell.textContent.trim()).join() === names,
          names,
        );
        assert.ok(page.url().includes(`sort=${sort}`), page.url());
        assert.equal(await heading.getAttribute("aria-sort"), direction);
        assert.deepEqual(await column(page, "grade"), grades);
      };
      await sorted("attribute.grade", "ascending", "Graded 2,Graded 1,Graded 3", ["A", "B", ""]);
      await sorted("-attribute.grade", "descending", "Graded 1,Graded 2,Graded 3", ["B", "A", ""]);
      await page.getByRole("button", { name: "By grade, Z to A" }).waitFor();
      await button(page, "Columns").click();
      await button(page, "Use the standard columns").click();
      for (const { id } of made) await api.remove(`/tags/${id}`);
      await api.remove(`/groups/${product.id}`);
    },
    "get a property together, and lose it, with undo": async (page, { api }) => {
      const colours = async () => (await api.get("/tags?q=Watch%20&sort=name&limit=2")).items.map(({ attributes }) => attributes.strap);
      await page.show("tags?q=Watch%20&sort=name");
      const names = (await api.get("/tags?q=Watch%20&sort=name&limit=2")).items.map(({ name }) => name);
      await select(page, ...names);
      await choose(page, "Change the tags", "Set a property…");
      const dialog = page.getByRole("dialog", { name: "Set a property of 2 tags" });
      await dialog.getByLabel("Key").fill("strap colour");
      await button(dialog, "Set").click();
      await dialog.getByText("A key has 1 to 64 letters").waitFor();
      await dialog.getByLabel("Key").fill("strap");
      await dialog.getByLabel("Value").fill("black");
      await button(dialog, "Set").click();
      await page.getByText("2 tags changed: strap is “black”.").waitFor();
      assert.deepEqual(await colours(), ["black", "black"]);
      await select(page, names[0]);
      await choose(page, "Change the tags", "Remove a property…");
      await page.getByRole("dialog").getByLabel("Key").fill("strap");
      await button(page.getByRole("dialog"), "Remove").click();
      await page.getByText("changed: strap removed.").waitFor();
      assert.deepEqual(await colours(), [undefined, "black"]);
      // The notice that says "Undone." repeats the words of the change, and stays below the pointer. Before it is there, the
      // other notice is, and ignores a click as the second half of a double click.
      for (const [words, after] of [
        ["changed: strap removed.", ["black", "black"]],
        ["changed: strap is", [undefined, undefined]],
      ]) {
        await page.locator(".notice", { hasText: words }).getByRole("button", { name: "Undo", exact: true }).click();
        await expect.poll(colours).toEqual(after);
        await page.getByText("Undone.").waitFor();
      }
    },
    "are marked as printed": async (page, { api }) => {
      await page.show("tags?q=Guitar");
      const before = await count(api, "has_qr_code=true");
      await select(page, "Guitar 46");
      await choose(page, "Change the tags", "Mark as printed");
      await page.getByText("Guitar 46 marked as printed.").waitFor();
      assert.equal(await count(api, "has_qr_code=true"), before + 1);
      await button(page, "Undo").click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await count(api, "has_qr_code=true"), before);
    },
  },
});
