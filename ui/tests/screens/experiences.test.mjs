import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { addBlock } from "./browser.mjs";
import { group } from "./suite.mjs";

const publish = async (page) => {
  await page.getByRole("button", { name: "Publish…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published.").waitFor();
};

/** The text of a field with the names of its macros. */
const words = async (field) => (await field.textContent()).replaceAll("\uFEFF", "");

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
      const { id: tag } = await api.post("/tags", { name: "To be claimed", experience_id: id, add_variables: false });
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
    "of one name are both named by the overview if their tags lack variables": async (page, { api }) => {
      const blocks = [{ type: "variable_button", label: "Twice", variable: "doubled", value: "true" }];
      for (const number of [1, 2]) {
        const { id } = await api.post("/experiences", { name: "Of one name", kind: "studio", blocks });
        await api.post("/tags", { name: `Of one name ${number}`, experience_id: id, add_variables: false });
      }
      await page.show("overview");
      await page.getByRole("link", { name: "1 tag without doubled" }).nth(1).waitFor();
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
      assert.equal(await words(title), "Made in Tag name");
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
      assert.equal(saved.blocks[1].title, "Made in {{ tag:name }}");
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
    "are chosen as a template by a click on its picture": async (page) => {
      await page.show("experiences?new=experience");
      await page.getByLabel("Page served by Tapdesk").check();
      const template = page.getByRole("button", { name: "Loyalty stamp" });
      await template.waitFor();
      await template.scrollIntoViewIfNeeded();
      const box = await template.boundingBox();
      await page.mouse.click(box.x + 60, box.y - 120);
      assert.equal(await template.getAttribute("aria-pressed"), "true");
      assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Loyalty stamp");
    },
    "are made from a template in the language of its visitors": async (page, { api }) => {
      await page.show("experiences?new=experience");
      await page.getByLabel("Page served by Tapdesk").check();
      await page.getByRole("button", { name: "Product registration" }).click();
      const gallery = page.getByRole("group", { name: "Templates" });
      const language = page.getByLabel("Language");
      assert.equal(await language.inputValue(), "en");

      await language.selectOption("العربية");
      const arabic = gallery.getByText("مصباح المكتب «أستر»");
      await arabic.waitFor();
      assert.equal(await arabic.evaluate((element) => getComputedStyle(element).direction), "rtl");

      await language.selectOption("Deutsch");
      await gallery.getByText("Registrieren Sie Ihr Produkt jetzt").waitFor();
      assert.equal(await gallery.getByRole("button", { name: "Produktregistrierung" }).getAttribute("aria-pressed"), "true");
      assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Produktregistrierung");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      const phone = page.getByRole("group", { name: "The page on a phone" });
      await phone.getByText("Registrieren Sie Ihr Produkt jetzt").waitFor();
      const { id } = (await api.get("/experiences?q=Produktregistrierung")).items[0];
      assert.equal((await api.get(`/experiences/${id}`)).blocks[1].blocks[0].title, "Registriert");
    },
    "are seen without a tag in the states that visitors know, and edited in the preview": async (page, { api }) => {
      const { items } = await api.get("/experiences/templates");
      const { experience } = items.find(({ name }) => name === "product-registration");
      const { id } = await api.post("/experiences", { ...experience, name: "Seen at once", draft: true });
      await page.show(`experiences/${id}`);
      const phone = page.getByRole("group", { name: "The page on a phone" });
      const tabs = page.getByRole("tablist", { name: "State of the page" });
      await phone.getByText("Sample product").waitFor();
      await phone.getByText("Register it now").waitFor();
      assert.deepEqual(await tabs.getByRole("tab").allTextContents(), ["First tap", "Registered", "Not verified"]);
      const list = page.getByRole("list", { name: "Blocks: page" });
      await list.getByRole("button", { name: "Edit Heading: Tag title, or name" }).waitFor();
      await list
        .getByRole("button", { name: /^Edit Condition: If owner email is filled in, show notice “Registered” and 4 more; otherwise text/ })
        .waitFor();

      await tabs.getByRole("tab", { name: "First tap" }).press("ArrowRight");
      await phone.getByText("Registered", { exact: true }).waitFor();
      // A click in the page opens the block, wherever it is.
      await phone.getByRole("button", { name: "Select Notice: Registered" }).click();
      const title = page.getByRole("list", { name: "Blocks: then" }).getByLabel("Title");
      await title.waitFor();
      await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
      await page.keyboard.press("End");
      await page.keyboard.type(" to you");
      assert.equal(await title.inputValue(), "Registered to you");
      await phone.getByText("Registered to you", { exact: true }).waitFor();
      // Its name is that of the state.
      await tabs.getByRole("tab", { name: "Registered to you", selected: true }).waitFor();

      // A block that only another state shows brings that state with it.
      await page.getByRole("list", { name: "Blocks: otherwise" }).getByRole("button", { name: "Edit Form" }).focus();
      await tabs.getByRole("tab", { name: "First tap", selected: true }).waitFor();
      const chosen = phone.getByRole("button", { name: /^Select Form/ });
      await chosen.waitFor();
      assert.equal(await chosen.getAttribute("aria-pressed"), "true");
      assert.equal((await api.get("/tags?q=Sample product&count=true")).count, 0, "a sample is not stored");
    },
    "show macros by their names, and as text on request": async (page, { api }) => {
      const blocks = [{ type: "heading", text: "{{tag:title || tag:name}}" }];
      const { id } = await api.post("/experiences", { name: "Chips", kind: "studio", blocks });
      const stored = async () => (await api.get(`/experiences/${id}`)).blocks[0].text;
      await page.show(`experiences/${id}`);
      await page.getByRole("button", { name: "Edit Heading: Tag title, or name" }).click();
      const text = page.getByLabel("Text", { exact: true });
      assert.equal(await words(text), "Tag title, or name");
      await text.click();
      await page.keyboard.press("End");
      await page.keyboard.type(", from {{ dev");
      await page.getByRole("option", { name: /Country/ }).click();
      await page.keyboard.type("!");
      assert.equal(await words(text), "Tag title, or name, from Country!");
      await page.keyboard.press("Home");
      await page.keyboard.type("Your ");
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Draft saved.").waitFor();
      assert.equal(await stored(), "Your {{tag:title || tag:name}}, from {{ device:country }}!");

      await page.getByRole("button", { name: "Values and macros" }).click();
      await page.getByRole("menuitem", { name: "Show macros as text" }).click();
      assert.equal(await text.inputValue(), "Your {{tag:title || tag:name}}, from {{ device:country }}!");
      await page.getByRole("button", { name: "Values and macros" }).click();
      await page.getByRole("menuitem", { name: "Show names of macros" }).click();
      assert.equal(await words(text), "Your Tag title, or name, from Country!");
      // Chips are deleted and copied whole.
      await page.keyboard.press("Backspace");
      await page.keyboard.press("Backspace");
      assert.equal(await words(text), "Your Tag title, or name, from ");
      await page.getByRole("button", { name: "Values and macros" }).click();
      await page.getByRole("menuitem", { name: "Attribute…" }).click();
      await page.keyboard.type("sku");
      const saved = page.waitForResponse((answer) => answer.request().method() === "PATCH");
      await page.getByRole("button", { name: "Save draft" }).click();
      await saved;
      await page.waitForFunction(() => document.querySelector("[role=textbox]")?.textContent.includes("Attribute sku"));
      assert.equal(await stored(), "Your {{tag:title || tag:name}}, from {{ tag:attribute:sku }}");
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
      await page.getByRole("tab", { name: "Not verified" }).click();
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
    "follow a rule on a group, and name the group that was deleted": async (page, { api }) => {
      const wines = await api.post("/groups", { kind: "folder", name: "Ruled wines" });
      const batch = await api.post("/groups", { kind: "batch", name: "R01", parent_id: wines.id });
      const shop = { name: "By group", kind: "redirect", target_url: "https://shop.example.com/other" };
      const { id } = await api.post("/experiences", shop);
      const tag = await api.post("/tags", { name: "Ruled bottle", group_id: batch.id, experience_id: id });
      await page.show(`experiences/${id}`);
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByLabel("Destination URL of rule 1").fill("https://shop.example.com/wine");
      const condition = page.getByRole("group", { name: "Condition 1 of rule 1" });
      await condition.getByLabel("Condition", { exact: true }).selectOption("the tag is in");
      await condition.getByRole("button", { name: "Add a group…" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a group" });
      await dialog.getByRole("treeitem", { name: /Ruled wines/ }).click();
      await dialog.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText("https://shop.example.com/wine?rk=ROLLING_KEY").waitFor();
      await page.getByRole("tab", { name: "In Ruled wines" }).waitFor();
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Draft saved.").waitFor();
      const [rule] = (await api.get(`/experiences/${id}`)).rules;
      assert.deepEqual(rule.when, [{ type: "group", any_of: [wines.id] }]);
      await api.remove(`/tags/${tag.id}`);
      for (const group of [batch, wines]) await api.remove(`/groups/${group.id}`);
      await page.show(`experiences/${id}`);
      await page.getByText(`Group ${wines.id} was deleted`).waitFor();
      await page.getByRole("button", { name: `Remove Group ${wines.id}` }).waitFor();
      await api.remove(`/experiences/${id}`);
    },
    "say what is wrong with a macro at its rule and at its block": async (page) => {
      const words = "There is no macro {{tag:atribute:sku}}. The nearest is {{tag:attribute:sku}}.";
      await page.show("experiences/2");
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByLabel("Destination URL of rule 1").fill("https://docs.example.com/{{tag:atribute:sku}}");
      // Before it is saved, the preview says it.
      await page.getByRole("status").filter({ hasText: words }).waitFor();
      await page.getByRole("button", { name: "Save draft" }).click();
      const rule = page.getByRole("list", { name: "Rules", exact: true }).getByRole("alert");
      await rule.waitFor();
      assert.equal(await rule.textContent(), `Rule 1: ${words}`);
      await page.getByRole("button", { name: "Discard changes" }).click();

      await page.show("experiences/4");
      await addBlock(page, "Heading");
      await page.getByLabel("Text", { exact: true }).last().fill("Lot {{tag:atribute:sku}}");
      await page.getByRole("button", { name: "Save draft" }).click();
      const block = page.getByRole("list", { name: "Blocks: page" }).getByRole("alert");
      await block.waitFor();
      assert.match(await block.textContent(), /^Block \d+ \(heading\): /);
      assert.ok((await block.textContent()).endsWith(words));
    },
    "are seen at a former tap in the version that it opened, with a word on what is of today": async (page, { api }) => {
      const text = (words) => [{ type: "heading", text: `${words} {{tag:title}}` }];
      const { id } = await api.post("/experiences", { name: "Seen then", kind: "studio", blocks: text("Former") });
      const tag = await api.post("/tags", { name: "Then", title: "bottle", experience_id: id });
      await api.tap(tag.slug);
      await api.patch(`/experiences/${id}`, { blocks: text("New") });
      await api.post(`/experiences/${id}/publish`);
      const [tap] = (await api.get(`/interactions?tag_id=${tag.id}&limit=1`)).items;
      await page.show(`interactions/${tap.id}`);
      const visited = page.getByRole("region", { name: "The visitor's page" });
      await visited.getByText("Former bottle").waitFor();
      await visited.getByText("Version 1 of the page, which this tap opened, with the tag's properties as they are today").waitFor();
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
      const dialog = page.getByRole("dialog");
      await dialog.getByText(/^\d+ tags use this experience/).waitFor();
      assert.equal(await dialog.getByText("cannot be undone").count(), 0);
      assert.equal(await dialog.getByRole("button", { name: "Delete experience" }).count(), 0);
      await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
      await page.getByRole("link", { name: /^\d+ tags$/ }).click();
      await page.waitForFunction(() => document.querySelectorAll("[data-row] .experience").length > 0);
      // An archived tag says so in the place of its experience.
      const shown = await page.locator("[data-row] .experience:not(.soft)").allTextContents();
      assert.ok(shown.length > 0 && shown.every((name) => name.trim() === "Manual and downloads"), shown.join());
    },
  },
});
