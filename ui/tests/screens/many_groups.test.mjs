// A brand with 3,000 groups: 20 folders of 12 products of 12 batches each, with a tag in each batch. The tree loads 2,000
// of them at first.

import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { group } from "./suite.mjs";

const two = (number) => String(number).padStart(2, "0");
const numbers = (count) => Array.from({ length: count }, (_, index) => two(index + 1));
/** The names of all folders, products and batches. */
const folders = numbers(20).map((number) => `Folder ${number}`);
const products = numbers(12);
const batches = numbers(12);

const made = new WeakMap();
/** Imported once for each service. */
function thousands(api) {
  if (!made.has(api)) {
    const rows = numbers(20).flatMap((folder) =>
      products.flatMap((product) =>
        batches.map((batch) => {
          const lot = `${folder}${product}${batch}`;
          return `Case ${lot},case-of-${lot}x,Folder ${folder} / Product ${folder}${product} / Lot ${lot}`;
        }),
      ),
    );
    made.set(api, api.csv("/tags/import?create_groups=true", `name,slug,group\n${rows.join("\n")}\n`));
  }
  return made.get(api);
}

const item = (page, name) => page.getByRole("treeitem", { name: new RegExp(`${name}\\b`) });
const focused = (page) => page.evaluate(() => document.activeElement?.querySelector(".label")?.textContent ?? "");

/** The column of groups, with the first ones loaded. */
async function column(page, { api }, place = "tags") {
  await page.setViewportSize({ width: 1440, height: 900 });
  await thousands(api);
  await page.show(place);
  const found = page.getByRole("region", { name: "Groups" });
  await item(found, "Folder 01").waitFor();
  return found;
}

group("A tree of 3,000 groups", {
  states: {
    "the tree beside the tags": async (page, world) => {
      const tree = await column(page, world);
      await item(tree, "Folder 20").press("ArrowRight");
      await item(tree, "Product 2012").waitFor();
    },
  },
  stories: {
    "has all groups at the top, and loads the groups in one when it is opened": async (page, world) => {
      const tree = await column(page, world);
      // With the row of all tags.
      await expect(tree.getByRole("treeitem")).toHaveCount(folders.length + 1);
      await item(tree, "Folder 20").press("ArrowRight");
      await item(tree, "Product 2012").press("ArrowRight");
      await item(tree, "Lot 201212").waitFor();
      await expect(tree.getByRole("treeitem")).toHaveCount(folders.length + 1 + products.length + batches.length);
      await expect(item(tree, "Lot 201212")).toHaveAttribute("aria-posinset", "12");
      await expect(item(tree, "Lot 201212")).toHaveAttribute("aria-setsize", "12");
      await item(tree, "Lot 201212").click();
      await expect(page.getByRole("grid", { name: "Tags" }).locator("[data-row]")).toHaveCount(1);
      // Open groups stay open after a reload.
      await page.reload();
      await item(tree, "Lot 201212").waitFor();
    },
    "is walked by the keyboard, and keeps the focus while groups are loaded": async (page, world) => {
      const tree = await column(page, world);
      await item(tree, "Folder 19").focus();
      for (const [key, name] of [
        ["ArrowDown", "Folder 20"],
        ["ArrowRight", "Folder 20"],
      ]) {
        await page.keyboard.press(key);
        await expect.poll(() => focused(page)).toBe(name);
      }
      await item(tree, "Product 2001").waitFor();
      for (const [key, name] of [
        ["ArrowRight", "Product 2001"],
        ["ArrowDown", "Product 2002"],
        ["End", "Product 2012"],
        ["ArrowLeft", "Folder 20"],
        ["ArrowLeft", "Folder 20"],
        ["Home", "All tags"],
      ]) {
        await page.keyboard.press(key);
        await expect.poll(() => focused(page), { message: key }).toBe(name);
      }
      await expect(tree.getByRole("treeitem")).toHaveCount(folders.length + 1);
    },
    "hides all that is in a group when it is closed, and shows it again as it was": async (page, world) => {
      const tree = await column(page, world);
      await item(tree, "Folder 20").press("ArrowRight");
      await item(tree, "Product 2001").press("ArrowRight");
      await item(tree, "Lot 200101").waitFor();
      await item(tree, "Folder 20").press("ArrowLeft");
      await expect(tree.getByRole("treeitem")).toHaveCount(folders.length + 1);
      await page.reload();
      await item(tree, "Folder 20").waitFor();
      await expect(tree.getByRole("treeitem")).toHaveCount(folders.length + 1);
      await item(tree, "Folder 20").press("ArrowRight");
      await item(tree, "Lot 200112").waitFor();
      await expect(tree.getByRole("treeitem")).toHaveCount(folders.length + products.length + batches.length + 1);
    },
    "shows an old group that was moved into a new one at its place only": async (page, world) => {
      await thousands(world.api);
      const named = async (q) => (await world.api.get(`/groups?limit=1&q=${encodeURIComponent(q)}`)).items[0];
      const lot = await named("Lot 010101");
      await world.api.patch(`/groups/${lot.id}`, { parent_id: (await named("Product 2001")).id });
      try {
        const tree = await column(page, world);
        await expect(tree.getByRole("treeitem")).toHaveCount(folders.length + 1);
        await item(tree, "Folder 20").press("ArrowRight");
        await item(tree, "Product 2001").press("ArrowRight");
        await item(tree, "Lot 010101").waitFor();
        await expect(item(tree, "Lot 010101")).toHaveAttribute("aria-level", "3");
      } finally {
        await world.api.patch(`/groups/${lot.id}`, { parent_id: lot.parent_id });
      }
    },
    "finds a batch at its place by its name, and the choice stays in sight without the search": async (page, world) => {
      const tree = await column(page, world);
      const find = tree.getByRole("searchbox", { name: "Find a group" });
      await find.fill("lot 180703");
      await item(tree, "Lot 180703").waitFor();
      await expect(tree.getByRole("treeitem")).toHaveText([/All tags/, /Folder 18/, /Product 1807/, /Lot 180703/]);
      await find.press("Tab");
      for (const [key, name] of [
        ["ArrowDown", "Folder 18"],
        ["ArrowRight", "Product 1807"],
        ["ArrowLeft", "Folder 18"],
        ["End", "Lot 180703"],
      ]) {
        await page.keyboard.press(key);
        await expect.poll(() => focused(page), { message: key }).toBe(name);
      }
      await page.keyboard.press("Enter");
      await expect(item(tree, "Lot 180703")).toHaveAttribute("aria-selected", "true");
      await find.fill("");
      await expect(item(tree, "Lot 180704")).toBeVisible();
      await expect(item(tree, "Lot 180703")).toHaveAttribute("aria-selected", "true");
      await expect(item(tree, "Lot 180703")).toBeInViewport();
    },
    "opens, closes and moves the focus within a tenth of a second when all folders are open": async (page, world) => {
      const tree = await column(page, world);
      for (const folder of folders) await item(tree, folder).press("ArrowRight");
      await item(tree, "Product 2012").waitFor();
      const rows = folders.length * (1 + products.length) + 1;
      await expect(tree.getByRole("treeitem")).toHaveCount(rows);
      const times = await page.evaluate(async () => {
        const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const press = async (key) => {
          const began = performance.now();
          document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
          await drawn();
          return performance.now() - began;
        };
        const times = [];
        for (let time = 0; time < 21; time++) times.push(await press("ArrowUp"));
        return times.sort((a, b) => a - b);
      });
      assert.ok(times[10] < 100, `the median is ${times[10]} ms`);
    },
  },
});
