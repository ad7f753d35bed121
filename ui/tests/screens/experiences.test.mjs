import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { addBlock } from "./browser.mjs";
import { group } from "./suite.mjs";

const publish = async (page) => {
  await page.getByRole("button", { name: "Publish…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published.").waitFor();
};

group("Experiences", {
  states: {
    list: (page) => page.show("experiences"),
    "a redirect": async (page) => {
      await page.show("experiences/1");
      await page.locator("code.url").waitFor();
    },
    "a studio page": async (page) => {
      await page.show("experiences/4");
      await page.getByRole("heading", { name: "Lost and found" }).waitFor();
      await page.getByRole("group", { name: "The page on a phone" }).waitFor();
      await page.getByText("Theme", { exact: true }).click();
    },
    rules: async (page) => {
      await page.show("experiences/2");
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByRole("button", { name: "Add condition" }).click();
    },
    "a version compared": async (page) => {
      await page.show("experiences/1");
      await page.getByRole("button", { name: "Compare" }).click();
      await page.getByText("The draft is the same as version 1.").waitFor();
    },
    templates: async (page) => {
      await page.show("experiences");
      await page.getByRole("button", { name: "New experience" }).click();
      await page.getByLabel("Page served by Tapdesk").check();
      await page.getByRole("button", { name: "Loyalty stamp" }).waitFor();
    },
    "macros to choose from": async (page) => {
      await page.show("experiences/1");
      await page.getByLabel("Destination URL").fill("https://example.com/?a={{ ta");
      await page.getByRole("listbox", { name: "Macros" }).waitFor();
    },
    "the new experience": async (page) => {
      await page.show("experiences");
      await page.getByRole("button", { name: "New experience" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "are made with completed macros and shown for a tag": async (page, { api, tags }) => {
      await page.show("experiences");
      await page.getByRole("button", { name: "New experience" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Warranty");
      const target = page.getByLabel("Destination URL");
      await target.fill("https://shop.example.com/warranty?of=");
      await target.pressSequentially("{{ tag:at");
      await target.press("Enter");
      await target.pressSequentially("sku");
      assert.equal(await target.inputValue(), "https://shop.example.com/warranty?of={{ tag:attribute:sku }}");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { name: "Warranty" }).waitFor();
      await page.getByRole("combobox", { name: "Tag" }).fill(tags[4].name);
      await page.getByRole("option", { name: new RegExp(tags[4].slug) }).click();
      await page.getByText(`https://shop.example.com/warranty?of=${tags[4].attributes.sku}`).waitFor();
      assert.equal((await api.get("/experiences?q=Warranty")).items[0].published_version, 1);
    },
    "keep the chosen tag if the answer for the former one is late": async (page, { api, tags }) => {
      const { items } = await api.get("/tags?experience_id=1&simulated=all&limit=1");
      let fail;
      const late = new Promise((held) => (fail = held));
      await page.route(`**/admin/v1/tags/${items[0].id}`, async (route) => {
        await late;
        await route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"detail":"The disk is full."}' });
      });
      const other = tags.find(({ id }) => id !== items[0].id);
      const picker = page.getByRole("combobox", { name: "Tag" });
      const asked = page.waitForRequest(`**/admin/v1/tags/${items[0].id}`);
      await page.show("experiences/1");
      await asked;
      await picker.fill(other.name);
      await page.getByRole("option", { name: new RegExp(other.slug) }).click();
      await page.getByText(`https://shop.example.com/register?sn=${other.attributes.sku}`).waitFor();
      const answered = page.waitForResponse(`**/admin/v1/tags/${items[0].id}`);
      fail();
      await (await answered).finished();
      assert.equal(await picker.inputValue(), other.name);
    },
    "keep what is typed into the tag field if the default tag arrives late": async (page, { tags }) => {
      let answer;
      const late = new Promise((held) => (answer = held));
      await page.route("**/admin/v1/tags?experience_id*", async (route) => {
        await late;
        await route.continue();
      });
      await page.show("experiences/1");
      const picker = page.getByRole("combobox", { name: "Tag" });
      await picker.focus();
      const found = page.waitForResponse(/admin\/v1\/tags\/\d+$/);
      answer();
      await (await found).finished();
      await page.getByText("https://shop.example.com/register?sn=").last().waitFor();
      assert.equal(await picker.inputValue(), "");
      await picker.pressSequentially(tags[4].name);
      await page.getByRole("option", { name: new RegExp(tags[4].slug) }).click();
      await page.getByText(`https://shop.example.com/register?sn=${tags[4].attributes.sku}`).waitFor();
    },
    "are changed as a draft, published, and rolled back": async (page, { api }) => {
      await page.show("experiences/3");
      const target = page.getByLabel("Destination URL");
      await target.fill("https://shop.example.com/new");
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Draft saved.").waitFor();
      assert.equal((await api.get("/experiences/3")).published_version, 1);
      await publish(page);
      assert.equal((await api.get("/experiences/3")).published_version, 2);
      await page.getByRole("button", { name: "Publish again…" }).click();
      await page.getByRole("dialog", { name: "Publish version 1 again?" }).getByRole("button", { name: "Publish version 1" }).click();
      await page.getByText("Version 1 published again.").waitFor();
      await page.waitForFunction(() => document.querySelector("textarea").value.includes("verification:result"));
    },
    "send only what was edited, and show what another desk changed": async (page, { api }) => {
      const { id } = await api.post("/experiences", { name: "Two desks", kind: "redirect", target_url: "https://example.com/one" });
      await page.show(`experiences/${id}`);
      await page.getByLabel("Name", { exact: true }).fill("Two desks, mine");
      await api.patch(`/experiences/${id}`, { target_url: "https://example.com/theirs" });
      await page.waitForFunction(() => document.querySelector("textarea").value === "https://example.com/theirs");
      const sent = page.waitForRequest((request) => request.method() === "PATCH");
      await page.getByRole("button", { name: "Save draft" }).click();
      assert.deepEqual((await sent).postDataJSON(), { name: "Two desks, mine" });
      await page.getByRole("heading", { name: "Two desks, mine" }).waitFor();
      assert.equal((await api.get(`/experiences/${id}`)).target_url, "https://example.com/theirs");
    },
    "add the variables that their page writes to tags, with one click": async (page, { api }) => {
      const blocks = [{ type: "variable_button", label: "This is mine", variable: "claimed", value: "true" }];
      const { id } = await api.post("/experiences", { name: "Claim it", kind: "studio", blocks });
      const { id: tag } = await api.post("/tags", { name: "To be claimed", experience_id: id });
      await page.show("overview");
      await page.getByRole("link", { name: "1 tag without claimed" }).click();
      await page.getByText("1 tag with this experience has no variable claimed").waitFor();
      await page.getByRole("link", { name: "1 tag", exact: true }).waitFor();
      await page.getByText(/used by\s+1 tag/).waitFor();
      await page.getByRole("button", { name: "Add to 1 tag" }).click();
      await page.getByText("Added variables to 1 tag").waitFor();
      assert.equal((await api.get(`/tags/${tag}`)).variables.claimed, "");
      await page.getByText("1 tag with this experience has no variable claimed").waitFor({ state: "hidden" });
    },
    "are built of blocks and seen on a phone while they are": async (page, { api }) => {
      await page.show("experiences");
      await page.getByRole("button", { name: "New experience" }).click();
      await page.getByLabel("Page served by Tapdesk").check();
      await page.getByRole("button", { name: "Product registration" }).click();
      assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Product registration");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { name: "Product registration" }).waitFor();
      const phone = page.getByRole("group", { name: "The page on a phone" });
      await phone.getByText("Register it now").waitFor();
      const { id } = (await api.get("/experiences?q=Product registration")).items[0];
      assert.equal((await api.get(`/experiences/${id}`)).published_version, null, "a draft");

      const blocks = page.getByRole("list", { name: "Blocks: page" });
      await addBlock(page, "Notice");
      const title = blocks.getByLabel("Title").last();
      await title.fill("Made in {{ tag:na");
      await title.press("Enter");
      assert.equal(await title.inputValue(), "Made in {{ tag:name }}");
      await phone.getByText(/^Made in \S/).waitFor();
      await blocks.getByRole("button", { name: "Move Notice up" }).last().click();
      await page.getByText("Theme", { exact: true }).click();
      await page.getByLabel("Typeface").selectOption("serif");
      await publish(page);
      const saved = await api.get(`/experiences/${id}`);
      assert.deepEqual(
        saved.blocks.map(({ type }) => type),
        ["heading", "notice", "condition"],
      );
      assert.deepEqual([saved.theme.font, saved.theme.accent], ["serif", "#0f766e"]);

      await blocks.getByRole("button", { name: "Remove Notice" }).last().click();
      await page.locator(".notice", { hasText: "Notice removed." }).getByRole("button", { name: "Undo" }).click();
      await blocks.getByRole("button", { name: "Remove Notice" }).last().waitFor();
    },
    "are an outline of closed blocks, which are dragged, moved by keys, and added between others": async (page, { api }) => {
      const blocks = ["one", "two", "three"].map((text) => ({ type: "heading", text }));
      const { id } = await api.post("/experiences", { name: "Outline", kind: "studio", blocks });
      await page.show(`experiences/${id}`);
      const list = page.getByRole("list", { name: "Blocks: page" });
      const order = () => list.locator(".summary").allTextContents();
      assert.deepEqual(await order(), ["one", "two", "three"]);
      assert.equal(await list.getByLabel("Text", { exact: true }).count(), 0);

      const grip = await list.locator(".grip").first().boundingBox();
      const last = await list.locator("li").last().boundingBox();
      await page.mouse.move(grip.x + 8, grip.y + 8);
      await page.mouse.down();
      await page.mouse.move(grip.x + 8, grip.y + 60, { steps: 4 });
      await page.mouse.move(grip.x + 8, last.y + last.height - 2, { steps: 4 });
      await page.mouse.up();
      assert.deepEqual(await order(), ["two", "three", "one"]);

      const edit = list.getByRole("button", { name: "Edit Heading: one" });
      await edit.press("Enter");
      await list.getByRole("button", { name: "Move Heading up" }).last().press("Enter");
      assert.deepEqual(await order(), ["two", "one", "three"]);
      assert.equal(await list.getByLabel("Text", { exact: true }).inputValue(), "one");

      await list.getByRole("button", { name: "Add block before Heading" }).last().press("Enter");
      await page.getByRole("menuitem", { name: "Notice" }).press("Enter");
      await list.getByLabel("Title").fill("between");
      assert.deepEqual(await order(), ["two", "one", "between", "three"]);
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Draft saved.").waitFor();
      const saved = (await api.get(`/experiences/${id}`)).blocks;
      assert.deepEqual(
        saved.map(({ text, title }) => title ?? text),
        ["two", "one", "between", "three"],
      );
    },
    "say what is wrong with a block, and keep what was written": async (page) => {
      await page.show("experiences/4");
      await addBlock(page, "Button");
      const address = page.getByLabel("URL", { exact: true }).last();
      await address.fill("javascript:alert(1)");
      await page.getByRole("button", { name: "Save draft" }).click();
      await page
        .getByText(/Block \d \(button\): A link begins with/)
        .first()
        .waitFor();
      assert.equal(await address.inputValue(), "javascript:alert(1)");
    },
    "follow rules": async (page, { api }) => {
      await page.show("experiences/2");
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByLabel("Destination URL of rule 1").fill("https://docs.example.com/verified");
      await page.getByText("https://docs.example.com/verified?rk=ROLLING_KEY").waitFor();
      await page.getByLabel("State", { exact: true }).selectOption("not verified");
      await page.getByText(/docs\.example\.com\/(?!verified)\S*rk=ROLLING_KEY/).waitFor();
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Draft saved.").waitFor();
      assert.equal((await api.get("/experiences/2")).rules[0].target_url, "https://docs.example.com/verified");
      await page.getByRole("button", { name: "Compare" }).click();
      await page
        .getByRole("list", { name: "From version 1 to the draft" })
        .getByText(/verification: verified/)
        .waitFor();
    },
    "are exported to a file and imported from it": async (page, { api }) => {
      await page.show("experiences/4");
      const downloads = page.waitForEvent("download");
      await page.getByRole("button", { name: "More actions for Lost and found" }).click();
      await page.getByRole("menuitem", { name: "Export…" }).click();
      const file = await (await downloads).path();
      await page.show("experiences");
      await page
        .locator("#experience-file")
        .setInputFiles({ name: "page.json", mimeType: "application/json", buffer: await readFile(file) });
      await page.getByText("Imported Lost and found as a draft.").waitFor();
      assert.equal((await api.get("/experiences?q=Lost and found")).items.length, 2);
    },
    "lead to the tags that use them, and are not deleted while they do": async (page) => {
      await page.show("experiences/2");
      await page.getByRole("button", { name: /^More actions for/ }).click();
      await page.getByRole("menuitem", { name: "Delete…" }).click();
      await page.getByRole("button", { name: "Delete experience" }).click();
      await page.getByRole("alert").getByText(/tags/).waitFor();
      await page.getByRole("link", { name: /^\d+ tags$/ }).click();
      await page.waitForFunction(() => document.querySelectorAll("[role=listitem] .experience").length > 0);
      // An archived tag says so in the place of its experience.
      const shown = await page.locator("[role=listitem] .experience:not(.soft)").allTextContents();
      assert.ok(shown.length > 0 && shown.every((name) => name.trim() === "Manual and downloads"), shown.join());
    },
  },
});
