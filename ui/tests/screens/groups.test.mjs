import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "@playwright/test";
import { choose, select } from "./browser.mjs";
import { group } from "./suite.mjs";
import { wines } from "./wines.mjs";

const item = (page, name) => page.getByRole("treeitem", { name: new RegExp(name) });
const button = (page, name) => page.getByRole("button", { name, exact: true });
const rows = (page, list = "Tags") => page.getByRole("grid", { name: list }).locator("[data-row]");
const row = (page, name) => rows(page).filter({ hasText: name });
/** Undoes what a notice says. */
const undo = (page, text) => page.locator(".notice", { hasText: text }).getByRole("button", { name: "Undo" }).click();
/** Opens a row of a tree. */
const inTree = (within, name) => item(within, name).press("ArrowRight");
const fileAt = (path) => fileURLToPath(new URL(path, import.meta.url));
const icon = fileAt("../../../src-tauri/icons/128x128.png");
const photograph = fileAt("../../screenshots/product.webp");
const pictureIn = (page) => page.getByLabel("Selected group").getByRole("region", { name: "Picture" });
/** A product with a batch and a picture. */
const pictured = async ({ api }) => {
  const product = await api.post("/groups", { kind: "product", name: "Pictured product", title: "Riesling" });
  const batch = await api.post("/groups", { kind: "batch", name: "P01", parent_id: product.id });
  await api.putImage(`/groups/${product.id}/image`, readFileSync(icon));
  return { product, batch };
};
const show = async (page, { api }, place = "tags") => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const all = await wines(api);
  await page.show(typeof place === "string" ? place : place(all));
  return all;
};

group("Groups", {
  states: {
    "the tree beside the tags": async (page, world) => {
      const { batches } = await wines(world.api);
      await page.show(`tags?group=${batches[0].id}`);
      await page.getByRole("group", { name: "Group" }).waitFor();
    },
    "a product": async (page, world) => {
      const { product } = await wines(world.api);
      await page.show(`tags/group-${product.id}?group=${product.id}`);
      await page.getByLabel("Selected group").getByRole("heading", { name: "Batches" }).waitFor();
    },
    "a product with a picture": async (page, world) => {
      const { product } = await pictured(world);
      await page.show(`tags/group-${product.id}`);
      await pictureIn(page).getByRole("img", { name: "Riesling" }).waitFor();
    },
    "the question before a recall": async (page, world) => {
      const { product } = await wines(world.api);
      await page.show(`tags/group-${product.id}`);
      await page.getByLabel("Selected group").getByRole("button", { name: "More actions for Grand Cru 2021" }).click();
      await page.getByRole("menuitem", { name: "Recall…" }).click();
      await page.getByText("in the last 30 days").waitFor();
    },
    "a new product": async (page, world) => {
      await wines(world.api);
      await page.show("tags?new=product");
      await page.getByRole("dialog", { name: "New product" }).waitFor();
    },
    "taps narrowed to a group": async (page, world) => {
      const { batches } = await wines(world.api);
      await page.show(`interactions?group=${batches[0].id}`);
      await button(page, "Group: L03").click();
      await page.getByRole("dialog", { name: "Group" }).waitFor();
    },
    "the place of a tag": async (page, world) => {
      const { tags } = await wines(world.api);
      await page.show(`tags/${tags[0].id}`);
      await button(page, "Move…").click();
      await page.getByRole("dialog", { name: "Move Wine bottle 1" }).waitFor();
    },
    "the inherited properties of a tag": async (page, world) => {
      const { tags } = await wines(world.api);
      await page.show(`tags/${tags[0].id}?part=properties`);
      await page.getByText("from Grand Cru 2021").waitFor();
    },
  },
  stories: {
    "narrow the list with all below, only by the keyboard": async (page, world) => {
      await show(page, world);
      await inTree(page, "Wines");
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction(() => document.activeElement?.textContent.includes("Grand Cru 2021"));
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.querySelectorAll("[data-row]").length === 3);
      await inTree(page, "Grand Cru 2021");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.querySelectorAll("[data-row]").length === 2);
      await page.getByRole("group", { name: "Group" }).getByText("Batch · Lot L03").waitFor();
      await button(page, "Show all tags").click();
      await rows(page).filter({ hasText: "Lamp" }).first().waitFor();
    },
    "are created in each other, renamed and moved, with undo": async (page, world) => {
      const { api } = world;
      await show(page, world);
      await item(page, "Wines").click();
      await choose(page, "New group", "New product…");
      const dialog = page.getByRole("dialog", { name: "New product" });
      await dialog.getByText("In Wines.").waitFor();
      await dialog.getByLabel("Name").fill("Riesling 2023");
      await dialog.getByLabel("GTIN").fill("9520123456789");
      await button(dialog, "Create product").click();
      await dialog.getByRole("alert").first().waitFor();
      await dialog.getByLabel("GTIN").fill("");
      await button(dialog, "Create product").click();
      await page.getByRole("group", { name: "Group" }).getByRole("link", { name: "Riesling 2023" }).waitFor();
      await item(page, "Riesling 2023").focus();
      await page.keyboard.press("F2");
      const rename = page.getByRole("dialog", { name: "Rename Riesling 2023" });
      await rename.getByLabel("Name").fill("Riesling 2024");
      await button(rename, "Rename").click();
      await item(page, "Riesling 2024").waitFor();
      await item(page, "Riesling 2024").dragTo(item(page, "All tags"));
      const found = async () => (await api.get("/groups?q=Riesling")).items[0];
      await page.getByText("Moved to the top.").waitFor();
      assert.equal((await found()).parent_id, null);
      await undo(page, "Moved to the top.");
      await page.getByText("Undone.").first().waitFor();
      assert.notEqual((await found()).parent_id, null);
    },
    "have a picture, which is replaced and removed with undo": async (page, { api }) => {
      const product = await api.post("/groups", { kind: "product", name: "Bare product", title: "Riesling" });
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.show(`tags/group-${product.id}`);
      const region = pictureIn(page);
      const choose = (name, file) => region.getByLabel(name).setInputFiles(file);
      const stored = async () => (await api.get(`/groups/${product.id}`)).image;
      const drawn = (width) =>
        page.waitForFunction((width) => document.querySelector('img[alt="Riesling"]')?.naturalWidth === width, width);
      await region.getByText("No picture.").waitFor();
      await choose("Add picture…", { name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n") });
      await region.getByRole("alert").getByText("list.csv is no PNG, JPEG, WebP or GIF.").waitFor();
      await choose("Add picture…", { name: "huge.png", mimeType: "image/png", buffer: Buffer.alloc(16 * 1024 * 1024 + 1) });
      await region.getByRole("alert").getByText("huge.png is larger than 16 MB.").waitFor();
      assert.equal(await stored(), null);
      await choose("Add picture…", photograph);
      const width = await region.getByRole("img", { name: "Riesling" }).evaluate(async (one) => {
        await one.decode();
        return one.naturalWidth;
      });
      assert.equal((await stored()).type, "image/jpeg");
      await choose("Replace picture…", icon);
      await drawn(128);
      const second = await stored();
      await button(region, "Remove picture").click();
      await region.getByText("No picture.").waitFor();
      assert.equal(await stored(), null);
      await page.keyboard.press("Control+z");
      await drawn(128);
      assert.equal((await stored()).digest, second.digest);
      await page.keyboard.press("Control+z");
      await drawn(width);
      // The photograph was encoded again, and is still the one that was added.
      await page.keyboard.press("Control+z");
      await region.getByText("No picture.").waitFor();
      assert.equal(await stored(), null);
      await api.remove(`/groups/${product.id}`);
    },
    "show the picture of the product above them, which is changed there": async (page, world) => {
      const { product, batch } = await pictured(world);
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.show(`tags/group-${batch.id}`);
      const region = pictureIn(page);
      await region.getByRole("img", { name: "Riesling" }).waitFor();
      await region.getByText("From Pictured product.").waitFor();
      assert.equal(await region.getByLabel(/picture…/).count(), 0);
      assert.equal(await region.getByRole("button").count(), 0);
      for (const { id } of [batch, product]) await world.api.remove(`/groups/${id}`);
    },
    "say which problems their tags have": async (page, { api }) => {
      const product = await api.post("/groups", { kind: "product", name: "Unset product" });
      const tag = await api.post("/tags", { name: "Unset bottle", group_id: product.id });
      await api.tap(tag.slug);
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.show(`tags/group-${product.id}`);
      const problems = page.getByRole("list", { name: "Problems in the last 30 days" });
      await problems.getByRole("link", { name: "1 tag not set up" }).click();
      await rows(page).filter({ hasText: "Unset bottle" }).waitFor();
      await api.remove(`/tags/${tag.id}`);
      await api.remove(`/groups/${product.id}`);
    },
    "are moved by the keyboard, and never below themselves": async (page, world) => {
      const { api } = world;
      const other = await api.post("/groups", { kind: "folder", name: "Cellar" });
      const { folder } = await show(page, world);
      await item(page, "Wines").focus();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Move…" }).press("Enter");
      const dialog = page.getByRole("dialog", { name: "Move Wines" });
      await item(dialog, "Wines").focus();
      await page.keyboard.press("Enter");
      assert.equal(await item(dialog, "Wines").getAttribute("aria-disabled"), "true");
      assert.ok(await button(dialog, "Move").isDisabled());
      await item(dialog, "Cellar").focus();
      await page.keyboard.press("Enter");
      await dialog.getByText("To Cellar").waitFor();
      await button(dialog, "Move").press("Enter");
      await page.getByText("Moved to Cellar.").waitFor();
      assert.equal((await api.get(`/groups/${folder.id}`)).parent_id, other.id);
      await undo(page, "Moved to Cellar.");
      await page.getByText("Undone.").first().waitFor();
      assert.equal((await api.get(`/groups/${folder.id}`)).parent_id, null);
      await api.remove(`/groups/${other.id}`);
    },
    "take tags that are dragged onto them, a selected one with all others": async (page, world) => {
      const { api } = world;
      const { batches } = await show(page, world);
      const names = ["Dragged 1", "Dragged 2", "Dragged 3"];
      const dragged = [];
      for (const name of names) dragged.push(await api.post("/tags", { name }));
      const placed = async () => (await Promise.all(dragged.map(({ id }) => api.get(`/tags/${id}`)))).map(({ group_id }) => group_id);
      await page.show("tags?q=Dragged");
      await inTree(page, "Wines");
      await inTree(page, "Grand Cru 2021");
      const [first, second] = batches.map(({ id }) => id);
      await row(page, "Dragged 3").dragTo(item(page, "L03"));
      await page.getByText("moved to L03.").waitFor();
      assert.deepEqual(await placed(), [null, null, first]);
      await select(page, "Dragged 1", "Dragged 2");
      await row(page, "Dragged 2").dragTo(item(page, "L04"));
      await page.getByText("2 tags moved to L04.").waitFor();
      assert.deepEqual(await placed(), [second, second, first]);
      await undo(page, "2 tags moved to L04.");
      await page.getByText("Undone.").first().waitFor();
      assert.deepEqual(await placed(), [null, null, first]);
      for (const { id } of dragged) await api.remove(`/tags/${id}`);
    },
    "say what to do while they are empty": async (page, world) => {
      const { api } = world;
      const empty = await api.post("/groups", { kind: "batch", name: "L99" });
      await show(page, world, `tags?group=${empty.id}`);
      await page.getByText("No tags in L99").waitFor();
      await page.getByRole("button", { name: "New tag" }).last().click();
      await page.getByRole("dialog", { name: "New tag" }).getByText("L99").waitFor();
      await page.keyboard.press("Escape");
      await page.getByLabel("Search tags").fill("no such tag");
      await page.getByText("No tag matches").waitFor();
      await api.remove(`/groups/${empty.id}`);
    },
    "get the tags that are created while they are shown": async (page, world) => {
      const { api } = world;
      const { batches } = await show(page, world, ({ batches }) => `tags?group=${batches[1].id}`);
      await button(page, "New tag").click();
      const dialog = page.getByRole("dialog", { name: "New tag" });
      await dialog.getByText("Wines / Grand Cru 2021 / L04").waitFor();
      await dialog.getByLabel("Name").fill("Late bottle");
      await dialog.getByText("Register product, from the group").waitFor({ state: "attached" });
      await button(dialog, "Create").click();
      await page.getByLabel("Selected tag").getByRole("heading", { name: "Late bottle" }).waitFor();
      const [made] = (await api.get("/tags?q=Late%20bottle")).items;
      assert.equal(made.group_id, batches[1].id);
      await api.remove(`/tags/${made.id}`);
    },
    "narrow the taps, and the numbers and the breakdown of the overview": async (page, world) => {
      const { api } = world;
      const { batches, tags } = await show(page, world);
      await api.tap(tags[2].slug);
      await page.show("interactions");
      await button(page, "Group").click();
      const dialog = page.getByRole("dialog", { name: "Group" });
      await dialog.getByLabel("Find a group").fill("L04");
      await item(dialog, "L04").click();
      await button(page, "Group: L04").waitFor();
      assert.match(page.url(), new RegExp(`group=${batches[1].id}`));
      await page.waitForFunction(() =>
        [...document.querySelectorAll("[data-row]")].every((one) => one.textContent.includes("Wine bottle 3")),
      );
      await page.show("overview?dates=30d");
      const region = page.getByRole("region", { name: "Breakdown" });
      await region.waitFor();
      const first = page.locator(".numbers .number").first();
      const all = await first.textContent();
      await button(page, "Group").click();
      await dialog.getByLabel("Find a group").fill("L04");
      await item(dialog, "L04").click();
      const { totals } = await api.get(`/reports?group_id=${batches[1].id}&step=day`);
      const words = region.getByText(new RegExp(`^${totals.taps} taps? by ${totals.visitors} visitors?:`));
      await words.waitFor();
      await first.getByText(totals.taps.toLocaleString("en"), { exact: true }).waitFor();
      await page.getByRole("region", { name: "Most tapped" }).getByRole("link", { name: "Wine bottle 3" }).waitFor();
      assert.equal(await page.getByRole("region", { name: "Most tapped" }).getByRole("listitem").count(), 1);
      await button(page, "Remove filter Group").click();
      await words.waitFor({ state: "detached" });
      await page.waitForFunction((all) => document.querySelector(".numbers .number").textContent === all, all);
    },
    "are found by the palette, by their code": async (page, world) => {
      await show(page, world, "overview");
      await page.keyboard.press("Control+K");
      await page.getByPlaceholder(/Search tags/).fill("GC-21");
      await page.getByRole("option", { name: /Grand Cru 2021/ }).click();
      await page.getByLabel("Selected group").getByRole("heading", { name: "Grand Cru 2021" }).waitFor();
    },
    "are created by an import that names them by their path": async (page, world) => {
      const { api } = world;
      await show(page, world);
      await button(page, "Import…").click();
      const rows = "Name;Gruppe\nBeer 1;Beers / Stout / B01\nBeer 2;Beers / Stout / B02\n";
      await page.getByLabel("CSV file").setInputFiles({ name: "beers.csv", mimeType: "text/csv", buffer: Buffer.from(rows) });
      assert.equal(await page.getByLabel("Import Gruppe as").inputValue(), "group");
      await button(page, "Check").click();
      await page.getByText("There is no group").first().waitFor();
      await page.getByLabel("If a group does not exist").selectOption("create it");
      await button(page, "Check").click();
      await page.getByText("2 rows can be imported").waitFor();
      await button(page, "Import").click();
      await page.getByText("2 rows imported.").waitFor();
      await button(page, "Done").click();
      await item(page, "Beers").waitFor();
      const { items } = await api.get("/groups?q=B0");
      assert.deepEqual(
        items.map(({ kind, tag_count }) => [kind, tag_count]),
        [
          ["batch", 1],
          ["batch", 1],
        ],
      );
      await button(page, "Import…").click();
      await page.getByText("deletes 4 new groups unless used or changed since").waitFor();
      await button(page, "Undo import").click();
      await page.locator(".notice", { hasText: "Import of beers.csv" }).getByText("Undone.").waitFor();
      for (const name of ["B0", "Stout", "Beers"]) assert.deepEqual((await api.get(`/groups?q=${name}`)).items, [], name);
    },
    "limit a token and a webhook, with all below them": async (page, world) => {
      const { api } = world;
      const { product } = await show(page, world, "settings/tokens?new=token");
      const dialog = page.getByRole("dialog", { name: "New token" });
      await dialog.getByLabel("Name", { exact: true }).fill("A colleague");
      await dialog.getByLabel("Only these groups").check();
      assert.ok(await button(dialog, "Create token").isDisabled());
      await button(dialog, "Add a group…").click();
      const choice = page.getByRole("dialog", { name: "Add a group" });
      await choice.getByLabel("Find a group").fill("GC-21");
      await item(choice, "Grand Cru 2021").click();
      await button(choice, "Add").click();
      await dialog.getByText("Wines / Grand Cru 2021").waitFor();
      await button(dialog, "Create token").click();
      await button(page.getByRole("dialog", { name: "Your new token" }), "Close").click();
      await page.getByRole("row").filter({ hasText: "A colleague" }).getByText(", in 1 group").waitFor();
      const { items: tokens } = await api.get("/tokens");
      assert.deepEqual(tokens.find(({ name }) => name === "A colleague").group_ids, [product.id]);
      await page.show("settings/webhooks?edit=new");
      const hook = page.getByRole("dialog", { name: "New webhook" });
      await hook.getByLabel("URL", { exact: true }).fill("https://shop.example.com/hooks");
      await button(hook, "Group: All tags").click();
      const one = page.getByRole("dialog", { name: "Group", exact: true });
      await inTree(one, "Wines");
      await item(one, "Grand Cru 2021").click();
      await button(one, "Choose").click();
      await button(hook, "Group: Wines / Grand Cru 2021").waitFor();
      await button(hook, "Create webhook").click();
      await page.getByRole("dialog", { name: "Signing secret" }).waitFor();
      const { items: webhooks } = await api.get("/webhooks");
      assert.equal(webhooks.at(-1).filter.group_id, product.id);
      await api.remove(`/webhooks/${webhooks.at(-1).id}`);
    },
    "take what a colleague creates whose token is limited to one": async (page, world) => {
      const { product } = await wines(world.api);
      const may = { id: 3, name: "Field", scopes: ["read", "tags"], experience_ids: null, group_ids: [product.id], expires_at: null };
      await page.route("**/admin/v1/tokens/current", (route) => route.fulfill({ json: may }));
      await page.show("tags");
      await rows(page).first().waitFor();
      assert.equal(await button(page, "Import…").count(), 0);
      await button(page, "New tag").click();
      await page.getByRole("dialog", { name: "New tag" }).getByText("Wines / Grand Cru 2021").waitFor();
    },
    "are offered to a colleague whose token is limited to several": async (page, world) => {
      const { api } = world;
      await page.setViewportSize({ width: 1440, height: 900 });
      const { batches } = await wines(api);
      const [l03, l04] = batches;
      const group_ids = [l03.id, l04.id];
      const may = { id: 3, name: "Field", scopes: ["read", "tags"], experience_ids: null, group_ids, expires_at: null };
      await page.route("**/admin/v1/tokens/current", (route) => route.fulfill({ json: may }));
      // The service lists only the groups of a token.
      await page.route(/\/admin\/v1\/groups\?/, async (route) => {
        const { items } = await api.get("/groups?limit=500");
        await route.fulfill({ json: { items: items.filter(({ id }) => group_ids.includes(id)), next: null } });
      });
      await page.show("tags?new=tag");
      const dialog = page.getByRole("dialog", { name: "New tag" });
      await dialog.getByLabel("Name").fill("Shared bottle");
      assert.ok(await button(dialog, "Create").isDisabled());
      await button(dialog, "Group: Choose a group").click();
      const choice = page.getByRole("dialog", { name: "Group", exact: true });
      assert.ok(await button(choice, "Choose").isDisabled());
      await item(choice, "L03").waitFor();
      assert.equal(await choice.getByRole("treeitem").count(), 2);
      await item(choice, "L04").click();
      await button(choice, "Choose").click();
      await button(dialog, /^Group: .*L04$/).waitFor();
      await button(dialog, "Create").click();
      await page.getByLabel("Selected tag").getByRole("heading", { name: "Shared bottle" }).waitFor();
      const [made] = (await api.get("/tags?q=Shared%20bottle")).items;
      assert.equal(made.group_id, l04.id);
      await api.remove(`/tags/${made.id}`);
    },
    "give attributes to their tags, and variables to new ones": async (page, world) => {
      const { api } = world;
      const { batches, tags } = await show(page, world, ({ batches }) => `tags/group-${batches[0].id}`);
      const pane = page.getByLabel("Selected group");
      for (const [of, key, value] of [
        ["attributes", "harvest", "October"],
        ["variables", "registered", "no"],
      ]) {
        const add = pane.getByRole("group", { name: `Add to ${of}` });
        await add.getByLabel("New key").fill(key);
        await add.getByLabel("Default value").fill(value);
        await button(add, "Add").click();
      }
      await button(pane, "Save properties").click();
      await page.getByText("Properties saved.").waitFor();
      assert.equal((await api.get(`/tags/${tags[0].id}/effective`)).attributes.harvest.value, "October");
      const made = await api.post("/tags", { name: "Newest bottle", group_id: batches[0].id });
      assert.deepEqual(made.variables, { registered: "no" });
      assert.deepEqual((await api.get(`/tags/${tags[0].id}`)).variables, {});
      await api.remove(`/tags/${made.id}`);
      await undo(page, "Properties saved.");
      await page.getByText("Undone.").waitFor();
      assert.deepEqual((await api.get(`/groups/${batches[0].id}`)).variables, {});
    },
    "show a colleague's newer attribute before it is overwritten": async (page, world) => {
      const { api } = world;
      // The window does not learn of the colleague's change before it saves its own.
      await page.route("**/admin/v1/events?*", (route) => route.abort());
      const { batches } = await show(page, world, ({ batches }) => `tags/group-${batches[1].id}`);
      const { id } = batches[1];
      await api.patch(`/groups/${id}`, { attributes: { barrel: "oak", cork: "natural" } });
      await page.reload();
      const pane = page.getByLabel("Selected group");
      await pane.getByLabel("Value of barrel").fill("steel");
      await api.patch(`/groups/${id}`, { attributes: { barrel: "acacia", cork: "synthetic" } });
      await button(pane, "Save properties").click();
      await pane.getByRole("alert").getByText("Somebody else changed this").waitFor();
      assert.equal((await api.get(`/groups/${id}`)).attributes.barrel, "acacia");
      await button(pane, "Save properties").click();
      await page.getByText("Properties saved.").waitFor();
      assert.deepEqual((await api.get(`/groups/${id}`)).attributes, { barrel: "steel", cork: "synthetic" });
    },
    "are not offered to a token of some experiences": async (page, world) => {
      await wines(world.api);
      const may = { id: 3, name: "Field", scopes: ["read", "tags"], experience_ids: [1], group_ids: null, expires_at: null };
      await page.route("**/admin/v1/tokens/current", (route) => route.fulfill({ json: may }));
      await page.show("tags");
      await rows(page).first().waitFor();
      assert.equal(await page.getByRole("tree").count(), 0);
      await page.show("interactions");
      await rows(page, "Interactions").first().waitFor();
      assert.equal(await button(page, "Group").count(), 0);
    },
    "are shown in part if they are 3,000, and the others are found by their name": async (page, world) => {
      const { folder, product, batches } = await wines(world.api);
      const template = await world.api.get(`/groups/${batches[0].id}`);
      const lot = (_, number) => ({ ...template, id: 100_000 + number, name: `Lot ${number}`, code: `LOT-${number}`, tag_count: 0 });
      const all = [folder, product, ...Array.from({ length: 3_000 }, lot)];
      await page.route(/\/admin\/v1\/groups\?/, (route) => {
        const query = new URL(route.request().url()).searchParams;
        const q = query.get("q")?.toLowerCase() ?? "";
        const found = all.filter(({ name }) => name.toLowerCase().includes(q));
        const begin = Number(query.get("after") ?? 0);
        const end = begin + Number(query.get("limit") ?? 50);
        return route.fulfill({ json: { items: found.slice(begin, end), next: end < found.length ? String(end) : null } });
      });
      await show(page, world);
      const column = page.getByRole("region", { name: "Groups" });
      await column
        .getByText("The first 2,000 groups are shown, and all groups in the ones that you open. Find others by their name.")
        .waitFor();
      await inTree(column, "Wines");
      await inTree(column, "Grand Cru 2021");
      // With those above it; the row of all tags is no group.
      await expect(column.getByRole("treeitem")).toHaveCount(2_001);
      const find = column.getByRole("searchbox", { name: "Find a group" });
      await find.fill("Lot 2950");
      await item(column, "Lot 2950").waitFor();
      await expect(column.getByRole("treeitem")).toHaveCount(4);
      await find.fill("Lot");
      await column.getByText("The first 100 groups are shown. Type more of the name.").waitFor();
    },
    "are recalled with a decision that names their tags, and the recall is ended": async (page, world) => {
      const { api } = world;
      const { batches, tags } = await show(page, world);
      await api.tap(tags[0].slug);
      await page.show(`tags/group-${batches[0].id}?group=${batches[0].id}`);
      const pane = page.getByLabel("Selected group");
      await button(pane, "More actions for L03").click();
      const counted = page.waitForRequest((request) => request.url().includes("/reports?"));
      await page.getByRole("menuitem", { name: "Recall…" }).click();
      const dialog = page.getByRole("dialog", { name: "Recall L03?" });
      // The pane knows a number from before.
      await counted;
      await dialog.getByText("in the last 30 days").waitFor();
      await button(dialog, "Recall 2 tags").click();
      await pane.getByText("Taps of 2 tags lead to a plain page that says so.").waitFor();
      const open = async () => (await fetch(`${world.ui.service}/t/${tags[0].slug}`, { redirect: "manual" })).text();
      assert.match(await open(), /recalled/);
      await page.show(`tags/${tags[0].id}`);
      await page.getByText("with L03: taps lead to the page of the recall.").waitFor();
      const [tap] = (await api.get(`/interactions?tag_id=${tags[0].id}&limit=1`)).items;
      await page.show(`interactions/${tap.id}`);
      const today = page.getByRole("region", { name: "Page as of today" });
      await today.getByText("The group Grand Cru 2021 gives the page: Register product.").waitFor();
      await today.getByText("Recalled with L03: taps get a plain page that says so instead.").waitFor();
      await page.show(`tags/group-${batches[0].id}`);
      await button(pane, "End recall…").click();
      await button(page.getByRole("dialog"), "End recall of 2 tags").click();
      await pane.getByText("Recalled.").waitFor({ state: "detached" });
      assert.equal((await api.get(`/groups/${batches[0].id}`)).status, "active");
    },
    "have the labels of all their tags printed": async (page, world) => {
      await show(page, world, ({ product }) => `tags/group-${product.id}`);
      await button(page.getByLabel("Selected group"), "More actions for Grand Cru 2021").click();
      await page.getByRole("menuitem", { name: "Print labels…" }).click();
      const dialog = page.getByRole("dialog", { name: "Print 3 labels" });
      await dialog.getByRole("status").getByText("3 labels on 1 page").waitFor();
      const saved = page.waitForEvent("download");
      await button(dialog, "Save labels…").click();
      const gate = page.getByRole("dialog", { name: "Use an address that is not proved?" });
      if (await gate.isVisible().catch(() => false)) await gate.getByRole("button", { name: /trying|without proof/ }).click();
      assert.equal((await saved).suggestedFilename(), "labels.pdf");
      await page.getByText("3 labels saved.").waitFor();
      await dialog.waitFor({ state: "detached" });
    },
    "get many tags at once, and give them back with undo": async (page, world) => {
      const { api } = world;
      const { batches, tags } = await show(page, world, "tags?q=Wine%20bottle");
      await select(page, "Wine bottle 1", "Wine bottle 2");
      await button(page, "Move…").click();
      const dialog = page.getByRole("dialog", { name: "Move 2 tags" });
      await dialog.getByLabel("Find a group").fill("L04");
      await item(dialog, "L04").click();
      await button(dialog, "Move 2 tags").click();
      await page.getByText("2 tags moved to L04.").waitFor();
      const groupOf = async (tag) => (await api.get(`/tags/${tag.id}`)).group_id;
      assert.deepEqual(await Promise.all(tags.map(groupOf)), [batches[1].id, batches[1].id, batches[1].id]);
      await undo(page, "2 tags moved to L04.");
      await page.getByText("Undone.").waitFor();
      assert.deepEqual(await Promise.all(tags.map(groupOf)), [batches[0].id, batches[0].id, batches[1].id]);
    },
    "say at a tag where each value comes from, and the tag can have its own": async (page, world) => {
      const { api } = world;
      const { tags } = await show(page, world, ({ tags }) => `tags/${tags[1].id}`);
      const pane = page.getByLabel("Selected tag");
      await pane.getByText("From Grand Cru 2021.").first().waitFor();
      assert.equal(await pane.getByLabel("Title").getAttribute("placeholder"), "Grand Cru");
      await pane.getByRole("tab", { name: "Properties" }).click();
      await button(pane, "Change colour for this tag").click();
      await pane.getByLabel("Value of colour").fill("rosé");
      await button(pane, "Save properties").click();
      await page.getByText("Properties saved.").waitFor();
      assert.equal((await api.get(`/tags/${tags[1].id}`)).attributes.colour, "rosé");
      assert.equal((await api.get(`/tags/${tags[2].id}/effective`)).attributes.colour.value, "red");
    },
    "give all their tags another title with one save, and only empty ones are deleted": async (page, world) => {
      const { api } = world;
      const { tags } = await show(page, world, ({ product }) => `tags/group-${product.id}`);
      const pane = page.getByLabel("Selected group");
      await pane.getByLabel("Title").fill("Grand Cru, 2021");
      await button(pane, "Save").click();
      await page.getByText("Saved.").waitFor();
      assert.equal((await api.get(`/tags/${tags[2].id}/effective`)).title.value, "Grand Cru, 2021");
      await button(pane, "More actions for Grand Cru 2021").click();
      await page.getByRole("menuitem", { name: "Delete…" }).click();
      await page.getByRole("dialog", { name: "Delete Grand Cru 2021?" }).getByText("It has 3 tags.").waitFor();
    },
  },
});
