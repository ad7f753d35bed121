// Nothing that was typed is lost: not by another tab, row or screen, not by a refused
// save, not by another's change, and not by an undo.

import assert from "node:assert/strict";
import { kioskHost } from "./host.mjs";
import { group } from "./suite.mjs";

const kept = (page, title) => page.getByText(`${title}: your changes are kept, but not saved.`);
const forms = (page) => page.getByRole("button", { name: /unsaved form/ });
const go = (page, screen) => page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: screen, exact: true }).click();

group("What is typed", {
  states: {
    "a changed tag": async (page, { tags }) => {
      await page.show(`tags/${tags[46].id}`);
      await page.getByLabel("Title").fill("Half-typed");
      await page.getByText("Not saved yet").first().waitFor();
    },
    "changed properties": async (page, { tags }) => {
      await page.show(`tags/${tags[46].id}?part=properties`);
      await page.getByRole("button", { name: "Remove colour" }).click();
      await page.getByLabel("Value of owner").fill("Ann");
    },
    "forms that were left": async (page, { tags }) => {
      await page.show(`tags/${tags[46].id}`);
      await page.getByLabel("Title").fill("Half-typed");
      await go(page, "Overview");
      await forms(page).click();
      await page.getByRole("button", { name: `Discard changes of ${tags[46].name}` }).waitFor();
    },
  },
  stories: {
    "is kept while other sections, rows and screens are shown, and found again": async (page, { tags }) => {
      const [tag, other] = [tags[46], tags[45]];
      await page.setViewportSize({ width: 1400, height: 800 });
      await page.show(`tags/${tag.id}`);
      await page.getByLabel("Title").fill("Half-typed");
      await page.getByRole("tab", { name: "Taps" }).click();
      await page.getByRole("tab", { name: /Details.*not saved yet/ }).click();
      assert.equal(await page.getByLabel("Title").inputValue(), "Half-typed");
      await page.getByRole("tab", { name: "Location" }).click();
      await page.getByLabel("Street and number").fill("Hauptstr");
      await page.getByRole("tab", { name: "Properties" }).click();
      await page.getByLabel("Value of owner").fill("Ann");
      await page.getByLabel("New key").first().fill("half");
      await page.getByRole("main").getByText(other.name, { exact: true }).click();
      await page.getByRole("heading", { name: other.name }).waitFor();
      await kept(page, `${tag.name}, location`).waitFor();
      await go(page, "Overview");
      await forms(page).click();
      await page.getByRole("link", { name: `${tag.name}, properties` }).click();
      await page.getByRole("heading", { name: tag.name }).waitFor();
      assert.equal(await page.getByLabel("Value of owner").inputValue(), "Ann");
      assert.equal(await page.getByLabel("New key").first().inputValue(), "half");
      await page.getByRole("tab", { name: "Location" }).click();
      assert.equal(await page.getByLabel("Street and number").inputValue(), "Hauptstr");
      await page.getByRole("tab", { name: /Details/ }).click();
      assert.equal(await page.getByLabel("Title").inputValue(), "Half-typed");
    },
    "is asked about before the page is loaded again": async (page, { tags }) => {
      await page.show(`tags/${tags[46].id}`);
      // A window asks only where somebody did something.
      await page.getByLabel("Title").click();
      await page.keyboard.type("Half-typed");
      await page.getByText("Not saved yet").first().waitFor();
      const asked = page.waitForEvent("dialog");
      await page.evaluate(() => void setTimeout(() => location.reload()));
      const question = await asked;
      assert.equal(question.type(), "beforeunload");
      await question.dismiss();
      assert.match(await page.getByLabel("Title").inputValue(), /Half-typed/);
    },
    "in an experience is kept, and given up only by name": async (page) => {
      await page.show("experiences/1");
      await page.getByLabel("Destination URL").fill("https://half.example.com/");
      await go(page, "Tags");
      await kept(page, "Register product").waitFor();
      await page.getByRole("button", { name: "Show" }).click();
      const target = page.getByLabel("Destination URL");
      await target.waitFor();
      assert.equal(await target.inputValue(), "https://half.example.com/");
      await go(page, "Tags");
      await forms(page).click();
      await page.getByRole("button", { name: "Discard changes of Register product" }).click();
      await forms(page).waitFor({ state: "hidden" });
      await page.show("experiences/1");
      assert.match(await page.getByLabel("Destination URL").inputValue(), /shop\.example\.com/);
    },
    "beside the name of a macro is kept": async (page) => {
      await page.show("experiences/4");
      const open = async () => {
        await page.getByRole("button", { name: /^Edit Heading: Tag title was found/ }).click();
        return page.getByLabel("Text", { exact: true });
      };
      const text = await open();
      await text.click();
      await page.keyboard.press("End");
      await page.keyboard.type(" today");
      await go(page, "Tags");
      await kept(page, "Lost and found").waitFor();
      await page.getByRole("button", { name: "Show" }).click();
      const words = async (field) => (await field.textContent()).replaceAll("\uFEFF", "");
      assert.equal(await words(await open()), "Tag title was found today");
      await page.getByRole("button", { name: "Discard changes" }).click();
      assert.equal(await words(text), "Tag title was found");
    },
    "in the settings is kept, also what is no number": async (page, { api }) => {
      await page.show("settings/service");
      await page.getByLabel("Retention").fill("12 months");
      await page.getByLabel("Country header").fill("X-Country");
      await page.getByRole("link", { name: "Tokens" }).click();
      await kept(page, "Service settings").waitFor();
      await page.getByRole("link", { name: "Service", exact: true }).click();
      assert.equal(await page.getByLabel("Retention").inputValue(), "12 months");
      await page.getByRole("button", { name: "Save settings" }).click();
      await page.getByText("Retention: enter a whole number from 1 to 1,200, without a unit.").waitFor();
      await page.getByLabel("Retention").fill("7");
      const before = (await api.get("/settings")).retention_months.value;
      await page.getByRole("button", { name: "Save settings" }).click();
      await page.getByText("Settings saved.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal((await api.get("/settings")).retention_months.value, before);
      assert.equal(await page.getByLabel("Retention").inputValue(), String(before));
      assert.equal(await page.getByLabel("Country header").inputValue(), "");
    },
    "in the kiosk's settings is kept": async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByLabel("Heading").fill("Half a wel");
      await page.getByLabel("Each picture is shown for").fill("eight");
      await page.getByRole("link", { name: "Tokens" }).click();
      await kept(page, "Kiosk").waitFor();
      await page.getByRole("navigation", { name: "Settings sections" }).getByRole("link", { name: "Kiosk" }).click();
      assert.equal(await page.getByLabel("Heading").inputValue(), "Half a wel");
      const seconds = page.getByLabel("Each picture is shown for");
      assert.equal(await seconds.inputValue(), "eight");
      assert.equal(await seconds.evaluate((field) => field.validationMessage), "Enter a whole number from 2 to 600.");
    },
    "in a new tag is kept, and found again": async (page, { api }) => {
      const count = async () => (await api.get("/tags?limit=1&count=true&simulated=all")).count;
      const before = await count();
      await page.setViewportSize({ width: 1400, height: 800 });
      await page.show("tags");
      await page.getByRole("button", { name: "New tag" }).click();
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Half a tag");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await go(page, "Overview");
      await kept(page, "New tag").waitFor();
      assert.equal(await count(), before);
      await forms(page).click();
      await page.getByRole("link", { name: "New tag" }).click();
      const dialog = page.getByRole("dialog", { name: "New tag" });
      assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "Half a tag");
      await dialog.getByRole("button", { name: "Create" }).click();
      await page.getByRole("heading", { name: "Half a tag" }).waitFor();
      assert.equal(await count(), before + 1);
      await page.getByRole("button", { name: "New tag", exact: true }).click();
      assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "");
    },
    "in a new master key is sent only by its button, and kept": async (page, { api }) => {
      const names = async () => (await api.get("/master-keys")).items.map(({ name }) => name);
      await page.show("settings/keys");
      await page.getByRole("button", { name: "New master key…" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Batch of May");
      const key = page.getByLabel("Key", { exact: true });
      await key.fill("0123456789ABCDEF0123456789ABCDEF");
      await key.press("Enter");
      await page.getByRole("link", { name: "Tokens" }).click();
      await kept(page, "New master key").waitFor();
      assert.ok(!(await names()).includes("Batch of May"));
      await forms(page).click();
      await page.getByRole("link", { name: "New master key" }).click();
      await page.getByRole("button", { name: "Add master key" }).click();
      await page.getByText("Added Batch of May.").waitFor();
      assert.ok((await names()).includes("Batch of May"));
      await key.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "New master key…" }).click();
      assert.equal(await key.inputValue(), "");
    },
    "in a small dialog is sent by Enter, and any by Ctrl and Enter, also from beside its fields": async (page, { api }) => {
      const dialog = page.getByRole("dialog");
      await page.show("tags?new=tag");
      // What is not valid is not sent, and says so.
      await dialog.getByLabel("Name", { exact: true }).press("Enter");
      assert.equal(await dialog.getByLabel("Name", { exact: true }).evaluate((field) => field.validity.valueMissing), true);
      await dialog.getByLabel("Name", { exact: true }).fill("Sent by Enter");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Sent by Enter" }).waitFor();
      await page.show("tags?new=tag");
      await dialog.getByLabel("Name", { exact: true }).fill("Sent by the chord");
      await dialog.getByRole("button", { name: "Cancel" }).focus();
      await page.keyboard.press("Control+Enter");
      await page.getByRole("heading", { name: "Sent by the chord" }).waitFor();
      await page.show("sheets?new=sheet");
      await dialog.getByLabel("Name", { exact: true }).fill("Of many fields");
      await page.keyboard.press("Enter");
      await dialog.getByLabel("Expected state").focus();
      assert.ok((await api.get("/sheets")).items.every(({ name }) => name !== "Of many fields"));
      await page.keyboard.press("Control+Enter");
      await page.getByRole("heading", { name: "Of many fields" }).waitFor();
      // An editor is saved by the chord, as by its button.
      const [tag] = (await api.get("/tags?q=Sent by Enter")).items;
      await page.show(`tags/${tag.id}?part=details`);
      await page.getByLabel("Title").fill("By the chord");
      const saved = page.waitForResponse((answer) => answer.request().method() === "PATCH");
      await page.keyboard.press("Control+Enter");
      await saved;
      assert.equal((await api.get(`/tags/${tag.id}`)).title, "By the chord");
    },
    "in a new connection is sent only by its button, and kept": async (page) => {
      await kioskHost(page);
      await page.show("settings/connections");
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      await page.getByLabel("Server URL").fill("https://tags.example.com");
      await page.getByLabel("Token", { exact: true }).fill("a token only for tests, long enough");
      await page.getByLabel("Token", { exact: true }).press("Enter");
      await page.getByRole("link", { name: "Tokens" }).click();
      await kept(page, "New connection").waitFor();
      await page.getByRole("link", { name: "Connections" }).click();
      assert.equal(await page.getByLabel("Server URL").inputValue(), "https://tags.example.com");
      assert.equal(await page.getByText("Added Shop.").count(), 0);
      await page.getByRole("button", { name: "Add connection" }).click();
      await page.getByText("Added Shop.").waitFor();
      assert.equal(await page.getByLabel("Server URL").inputValue(), "");
    },
    "in a new webhook is kept, shown again, and discarded by Cancel": async (page, { api }) => {
      const url = "https://half.example.com/hook";
      const dialog = page.getByRole("dialog", { name: "New webhook" });
      await page.show("settings/webhooks");
      await page.getByRole("button", { name: "New webhook…" }).click();
      await dialog.getByLabel("URL", { exact: true }).fill(url);
      await dialog.getByLabel("URL", { exact: true }).press("Enter");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await kept(page, "New webhook").waitFor();
      assert.ok((await api.get("/webhooks")).items.every((one) => one.url !== url));
      await page.getByRole("link", { name: "Tokens" }).click();
      await forms(page).click();
      await page.getByRole("link", { name: "New webhook" }).click();
      assert.equal(await dialog.getByLabel("URL", { exact: true }).inputValue(), url);
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "New webhook…" }).click();
      assert.equal(await dialog.getByLabel("URL", { exact: true }).inputValue(), "");
    },
    "in a webhook is kept, and follows what others changed meanwhile": async (page, { api }) => {
      const { id } = await api.post("/webhooks", { url: "https://two.example.com/hook", events: ["tap.verified"] });
      const dialog = page.getByRole("dialog", { name: "Change webhook" });
      await page.show(`settings/webhooks?edit=${id}`);
      await dialog.getByLabel("URL", { exact: true }).fill("https://three.example.com/hook");
      await page.keyboard.press("Escape");
      await kept(page, "Webhook https://two.example.com/hook").waitFor();
      await api.patch(`/webhooks/${id}`, { events: ["submission.created"] });
      await page.getByRole("link", { name: "Tokens" }).click();
      await page.getByRole("link", { name: "Webhooks" }).click();
      await page.getByText("two.example.com/hook", { exact: true }).waitFor();
      await forms(page).click();
      await page.getByRole("link", { name: "Webhook https://two.example.com/hook" }).click();
      await dialog.getByRole("button", { name: "Save webhook" }).click();
      await page.getByText("Webhook saved.").waitFor();
      const { url, events } = await api.get(`/webhooks/${id}`);
      assert.deepEqual([url, events], ["https://three.example.com/hook", ["submission.created"]]);
    },
    "in a new token is kept while another section is shown": async (page, { api }) => {
      const names = async () => (await api.get("/tokens")).items.map(({ name }) => name);
      const dialog = page.getByRole("dialog", { name: "New token" });
      await page.show("settings/tokens");
      await page.getByRole("button", { name: "New token…" }).click();
      await dialog.getByLabel("Name", { exact: true }).fill("Half a token");
      await dialog.getByLabel("Name", { exact: true }).press("Enter");
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Webhooks" }).click();
      await kept(page, "New token").waitFor();
      assert.ok(!(await names()).includes("Half a token"));
      await forms(page).click();
      await page.getByRole("link", { name: "New token" }).click();
      assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "Half a token");
      await dialog.getByRole("button", { name: "Create token" }).click();
      await page.getByRole("dialog", { name: "Your new token" }).waitFor();
      assert.ok((await names()).includes("Half a token"));
    },
    "in a new inlay is kept, and found again on its tag": async (page, { api, tags }) => {
      const { id, name } = tags[33];
      const dialog = page.getByRole("dialog", { name: "New inlay" });
      const uid = dialog.getByLabel("UID", { exact: true });
      await page.show(`tags/${id}?part=inlay`);
      await page.getByRole("button", { name: "Add inlay…" }).click();
      await uid.fill("04DE5F1EACD901");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await go(page, "Overview");
      await kept(page, `${name}, new inlay`).waitFor();
      assert.equal((await api.get("/inlays?uid=04DE5F1EACD901")).items.length, 0);
      await forms(page).click();
      await page.getByRole("link", { name: `${name}, new inlay` }).click();
      assert.equal(await uid.inputValue(), "04DE5F1EACD901");
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Add inlay…" }).click();
      assert.equal(await uid.inputValue(), "");
    },
    "in the settings of an inlay is kept, and shows what others stored meanwhile": async (page, { api }) => {
      const key = "0123456789ABCDEF0123456789ABCDEF";
      const { id, uid } = await api.post("/inlays", { uid: "04DE5F1EACD902", technology: "ntag424dna", mirror: "plain", file_key: key });
      const dialog = page.getByRole("dialog", { name: `Inlay ${uid}` });
      const input = dialog.getByLabel("MAC input", { exact: true });
      await page.show(`inlays/${id}`);
      await page.getByRole("button", { name: "Edit…" }).click();
      await dialog.getByText("Technical", { exact: true }).click();
      await input.selectOption("uid");
      await page.keyboard.press("Escape");
      await kept(page, `Inlay ${uid}`).waitFor();
      await go(page, "Overview");
      await api.patch(`/inlays/${id}`, { mirror: null });
      await forms(page).click();
      await page.getByRole("link", { name: `Inlay ${uid}` }).click();
      assert.equal(await input.inputValue(), "uid");
      await dialog.getByText("static, no codes").waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await forms(page).waitFor({ state: "hidden" });
    },
    "in a new encoding run or factory order is kept, with its file": async (page) => {
      for (const [place, button, title, left] of [
        ["encode", "New run", "New encoding run", "New encoding run"],
        ["encode?part=orders", "New order", "New factory order", "New factory order"],
      ]) {
        const dialog = page.getByRole("dialog", { name: title });
        await page.show(place);
        await page.getByRole("button", { name: button, exact: true }).click();
        await dialog.getByLabel("Name", { exact: true }).fill("Half a roll");
        await dialog.getByLabel("Tags", { exact: true }).selectOption("csv");
        await dialog
          .getByLabel("CSV file")
          .setInputFiles({ name: "half.csv", mimeType: "text/csv", buffer: Buffer.from("name\nHalf a tag\n") });
        await dialog.getByText("half.csv").waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "hidden" });
        await go(page, "Overview");
        await kept(page, left).waitFor();
        await forms(page).click();
        await page.getByRole("link", { name: left }).click();
        assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "Half a roll");
        await dialog.getByText("half.csv").waitFor();
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await forms(page).waitFor({ state: "hidden" });
      }
    },
    "in an import of tags is kept, with its file": async (page, { api }) => {
      await page.show("tags");
      await page.getByRole("button", { name: "Import…" }).click();
      await page
        .getByLabel("CSV file")
        .setInputFiles({ name: "half.csv", mimeType: "text/csv", buffer: Buffer.from("Product\nHalf imported\n") });
      await page.getByLabel("Import Product as").selectOption("name");
      await page.keyboard.press("Escape");
      await go(page, "Overview");
      await kept(page, "Import of half.csv").waitFor();
      await page.getByRole("button", { name: "Show", exact: true }).click();
      assert.equal(await page.getByLabel("Import Product as").inputValue(), "name");
      assert.equal((await api.get("/tags?q=Half imported&count=true")).count, 0);
    },
    "in a batch assignment is kept": async (page) => {
      await page.show("reader/batch");
      await page.getByLabel("Tags", { exact: true }).fill("bottle");
      await go(page, "Overview");
      await kept(page, "Batch assignment").waitFor();
      await page.getByRole("button", { name: "Show", exact: true }).click();
      assert.equal(await page.getByLabel("Tags", { exact: true }).inputValue(), "bottle");
    },
    "follows the undo of its save": async (page, { api, tags }) => {
      const { id, title } = tags[20];
      await page.show(`tags/${id}`);
      await page.getByLabel("Title").fill("Saved too early");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("Saved.", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await page.getByLabel("Title").inputValue(), title);
      assert.equal((await api.get(`/tags/${id}`)).title, title);
    },
    "in a saved draft of an experience is taken back by undo": async (page, { api }) => {
      const { id } = await api.post("/experiences", { name: "Saved early", kind: "redirect", target_url: "https://example.com/one" });
      await page.show(`experiences/${id}`);
      await page.getByLabel("Destination URL").fill("https://example.com/two");
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Draft saved.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await page.getByLabel("Destination URL").inputValue(), "https://example.com/one");
      assert.equal((await api.get(`/experiences/${id}`)).target_url, "https://example.com/one");
    },
    "stands beside another's change that arrives with the refused save": async (page, { api, tags }) => {
      const { id } = tags[21];
      await page.show(`tags/${id}`);
      await page.getByLabel("Title").fill("Mine");
      // Only the save can hear of it.
      await page.route(`**/admin/v1/tags/${id}`, (route) => (route.request().method() === "GET" ? route.abort() : route.continue()));
      await api.patch(`/tags/${id}`, { title: "Theirs" });
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("Changed to “Theirs” in the meantime.").waitFor();
      assert.equal(await page.getByLabel("Title").inputValue(), "Mine");
      assert.equal((await api.get(`/tags/${id}`)).title, "Theirs");
    },
    "in properties goes live only by its button, together, and back by undo": async (page, { api, tags }) => {
      const { id } = tags[22];
      const before = await api.get(`/tags/${id}`);
      await page.show(`tags/${id}?part=properties`);
      const owner = page.getByLabel("Value of owner");
      await owner.fill("Half an own");
      await owner.press("Enter");
      await page.getByLabel("Value of colour").focus();
      await page.getByRole("button", { name: "Remove batch" }).click();
      await page.getByText("removed when you save").waitFor();
      await page.getByText("Not saved yet").first().waitFor();
      assert.deepEqual((await api.get(`/tags/${id}`)).variables, before.variables);
      await page.getByRole("button", { name: "Save properties" }).click();
      await page.getByText("Properties saved.").waitFor();
      const saved = await api.get(`/tags/${id}`);
      assert.deepEqual([saved.variables.owner, saved.attributes.batch], ["Half an own", undefined]);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      const back = await api.get(`/tags/${id}`);
      assert.deepEqual([back.variables, back.attributes], [before.variables, before.attributes]);
      await page.waitForFunction(() => document.querySelector("[aria-label='Value of owner']").value === "");
    },
  },
});
