// Nothing happens by accident: publishing is a decision, the Enter key decides nothing,
// an undo takes back what it names, and what cannot be undone asks by name.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addBlock } from "./browser.mjs";
import { kioskHost } from "./host.mjs";
import { group } from "./suite.mjs";

const redirect = (name, more = {}) => ({ name, kind: "redirect", target_url: "https://example.com/one", ...more });

group("A decision", {
  states: {
    "to publish": async (page) => {
      await page.show("experiences/2");
      await page.getByLabel("Destination URL").fill("https://docs.example.com/new");
      await page.getByRole("button", { name: "Publish…" }).click();
      await page.getByRole("list", { name: "From version 1 to the draft" }).waitFor();
    },
    "about a passphrase": async (page) => {
      await page.show("settings/backup");
      await page.getByLabel("Passphrase", { exact: true }).fill("one");
      await page.getByLabel("Repeat passphrase").fill("two");
    },
  },
  stories: {
    "publishes after what will change and how many tags lead there was shown, and is taken back": async (page, { api }) => {
      const { id } = await api.post("/experiences", redirect("Decided"));
      for (const name of ["One", "Two"]) await api.post("/tags", { name, experience_id: id });
      await page.show(`experiences/${id}`);
      await page.getByLabel("Destination URL").fill("https://example.com/two");
      await page.getByRole("button", { name: "Publish…" }).click();
      const dialog = page.getByRole("dialog", { name: "Publish Decided?" });
      await dialog.getByText("2 tags").waitFor();
      const lines = dialog.getByRole("list", { name: "From version 1 to the draft" });
      await lines.getByText("https://example.com/one").waitFor();
      await lines.getByText("https://example.com/two").waitFor();
      assert.equal((await api.get(`/experiences/${id}`)).published_version, 1);
      await dialog.getByRole("button", { name: "Publish", exact: true }).click();
      await page.getByText("Published. Taps now use this version.").waitFor();
      assert.equal((await api.get(`/experiences/${id}`)).published_version, 2);
      await page.locator(".notice", { hasText: "Published." }).getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      const { items } = await api.get(`/experiences/${id}/versions`);
      const back = await api.get(`/experiences/${id}`);
      const live = items.find(({ version }) => version === back.published_version);
      assert.equal(live.target_url, "https://example.com/one");
      // What was published is a draft again, not lost.
      assert.equal(back.target_url, "https://example.com/two");
      assert.equal(await page.getByLabel("Destination URL").inputValue(), "https://example.com/two");
    },
    "publishes only what was shown": async (page, { api }) => {
      const { id } = await api.post("/experiences", redirect("Shown", { draft: true }));
      await page.show(`experiences/${id}`);
      await page.getByRole("button", { name: "Publish…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("This is its first version.").waitFor();
      // Nothing goes live by a key: what only asks has no form to send, and begins at Cancel.
      await page.keyboard.press("Control+Enter");
      assert.equal((await api.get(`/experiences/${id}`)).published_version, null);
      assert.equal(await dialog.getByRole("button", { name: "Cancel" }).evaluate((one) => one === document.activeElement), true);
      await page.route(`**/admin/v1/experiences/${id}`, (route) => (route.request().method() === "GET" ? route.abort() : route.continue()));
      await api.patch(`/experiences/${id}`, { target_url: "https://example.com/theirs" });
      await dialog.getByRole("button", { name: "Publish", exact: true }).click();
      await dialog.getByRole("alert").getByText("Somebody else changed this").waitFor();
      assert.equal((await api.get(`/experiences/${id}`)).published_version, null);
    },
    "is never made by the Enter key in an editor": async (page, { api, tags }) => {
      const { id } = await api.post("/experiences", redirect("By the Enter key"));
      const writes = [];
      page.on("request", (request) => /PATCH|PUT|DELETE/.test(request.method()) && writes.push(request.url()));
      await page.show(`experiences/${id}`);
      const name = page.getByLabel("Name", { exact: true });
      await name.fill("Edited");
      await name.press("Enter");
      await page.getByLabel("Destination URL").press("Enter");
      await page.getByText("Not saved yet").waitFor();
      await page.show(`tags/${tags[30].id}`);
      await page.getByLabel("Title").fill("Half-typed");
      await page.getByLabel("Title").press("Enter");
      await page.getByRole("textbox", { name: "Slug" }).press("Enter");
      await page.getByText("Not saved yet").first().waitFor();
      await page.show("settings/service");
      await page.getByLabel("Retention").fill("9");
      await page.getByLabel("Retention").press("Enter");
      await page.getByText("Not saved yet").waitFor();
      assert.deepEqual(writes, []);
    },
    "to create an experience is not made by the Enter key": async (page, { api }) => {
      const count = async () => (await api.get("/experiences?limit=1&count=true")).count;
      const before = await count();
      await page.show("experiences");
      await page.getByRole("button", { name: "New experience" }).click();
      await page.getByLabel("Name", { exact: true }).fill("By Enter");
      const target = page.getByLabel("Destination URL");
      await target.fill("https://example.com/");
      await target.press("Enter");
      await page.getByLabel("Name", { exact: true }).press("Enter");
      await page.getByRole("button", { name: "Cancel" }).click();
      assert.equal(await count(), before);
    },
    "to publish a page waits for its first block, and says so": async (page, { api }) => {
      const { id } = await api.post("/experiences", { name: "Still blank", kind: "studio", blocks: [], draft: true });
      await page.show(`experiences/${id}`);
      const publish = page.getByRole("button", { name: "Publish…" });
      assert.ok(await publish.isDisabled());
      await page.getByText("Add a block to publish.").waitFor();
      await addBlock(page, "Divider");
      await page.getByText("Add a block to publish.").waitFor({ state: "detached" });
      assert.equal(await publish.isDisabled(), false);
    },
    "to remove a block is undone only for that block": async (page, { api }) => {
      const blocks = ["one", "two", "three"].map((text) => ({ type: "heading", text }));
      const { id } = await api.post("/experiences", { name: "Three headings", kind: "studio", blocks });
      await page.show(`experiences/${id}`);
      const list = page.getByRole("list", { name: "Blocks: page" });
      for (const number of [0, 1, 2]) await list.getByRole("button", { name: "Edit Heading" }).nth(number).click();
      await list.getByRole("button", { name: "Remove Heading" }).nth(1).click();
      await list.getByLabel("Text", { exact: true }).first().fill("one, edited since");
      await addBlock(page, "Divider");
      await page.locator(".notice", { hasText: "Heading removed." }).getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      const texts = () => list.getByLabel("Text", { exact: true }).evaluateAll((fields) => fields.map((field) => field.value));
      await page.waitForFunction(() => document.querySelectorAll("[aria-label='Blocks: page'] .editor").length >= 3);
      assert.deepEqual(await texts(), ["one, edited since", "two", "three"]);
      await list.getByText("Divider").waitFor();
    },
    "to remove a row of a table or a field of a form is undone only for that one, after a save, too": async (page, { api }) => {
      const rows = ["one", "two", "three"].map((key) => ({ key, value: key }));
      const fields = ["First", "Second"].map((label) => ({ label, kind: "text", variable: label.toLowerCase(), required: false }));
      const blocks = [
        { type: "table", rows },
        { type: "form", fields, submit_label: "Send" },
      ];
      const { id } = await api.post("/experiences", { name: "Rows and fields", kind: "studio", blocks });
      await page.show(`experiences/${id}`);
      const list = page.getByRole("list", { name: "Blocks: page" });
      const undo = (what) =>
        page
          .locator(".notice", { hasText: `${what} removed.` })
          .getByRole("button", { name: "Undo" })
          .click();
      const stored = async () => (await api.get(`/experiences/${id}`)).blocks;
      const save = async () => {
        await page.getByRole("button", { name: "Save draft" }).click();
        await page.getByText("Not saved yet").waitFor({ state: "detached" });
      };
      await list.getByRole("button", { name: "Edit Table" }).click();
      await list.getByRole("button", { name: "Remove row 2" }).click();
      await list.getByLabel("Value", { exact: true }).first().fill("edited since");
      await undo("Row 2");
      await list.getByRole("group", { name: "Row 3" }).waitFor();
      await save();
      assert.deepEqual((await stored())[0].rows, [{ key: "one", value: "edited since" }, rows[1], rows[2]]);

      await list.getByRole("button", { name: "Edit Form" }).click();
      await list.getByRole("button", { name: "Remove field 1" }).click();
      await save();
      await undo("Field 1");
      await list.getByRole("group", { name: "Field 2" }).waitFor();
      assert.deepEqual(await list.getByLabel("Variable", { exact: true }).evaluateAll((all) => all.map((one) => one.value)), [
        "first",
        "second",
      ]);
    },
    "to move through the types of a field keeps its choices": async (page, { api }) => {
      const fields = [{ label: "Size", kind: "choice", variable: "size", required: false, choices: ["Small", "Large"] }];
      const { id } = await api.post("/experiences", {
        name: "Sizes",
        kind: "studio",
        blocks: [{ type: "form", fields, submit_label: "Send" }],
      });
      await page.show(`experiences/${id}`);
      const list = page.getByRole("list", { name: "Blocks: page" });
      await list.getByRole("button", { name: "Edit Form" }).click();
      await list.getByLabel("Type", { exact: true }).selectOption("text");
      await list.getByLabel("Choices, one per line").waitFor({ state: "detached" });
      await list.getByLabel("Type", { exact: true }).selectOption("choice");
      assert.equal(await list.getByLabel("Choices, one per line").inputValue(), "Small\nLarge");
    },
    "to discard the edits of an experience takes the undo of a removed part with it": async (page, { api }) => {
      const blocks = ["one", "two"].map((text) => ({ type: "heading", text }));
      const rules = [{ when: [{ type: "verification", any_of: ["verified"] }], target_url: "https://example.com/rule" }];
      const studio = await api.post("/experiences", { name: "Two headings", kind: "studio", blocks });
      const redirect = await api.post("/experiences", { name: "One rule", kind: "redirect", target_url: "https://example.com/", rules });
      for (const [{ id }, remove, list, count] of [
        [studio, "Remove Heading", "Blocks: page", 2],
        [redirect, "Remove rule 1", "Rules", 1],
      ]) {
        await page.show(`experiences/${id}`);
        const buttons = page.getByRole("list", { name: list }).getByRole("button", { name: remove });
        await buttons.first().click();
        const notice = page.locator(".notice", { hasText: "removed." });
        await notice.waitFor();
        await page.getByRole("button", { name: "Discard changes" }).click();
        assert.equal(await notice.count(), 0);
        assert.equal(await buttons.count(), count);
      }
    },
    "to end the schedule of backups asks first": async (page, { api }) => {
      const folder = await mkdtemp(join(tmpdir(), "tapdesk-schedule-"));
      try {
        await api.put("/backup/schedule", { destination: folder, every_hours: 24, keep: 3 });
        await page.show("settings/backup");
        const asked = page.getByRole("dialog", { name: "End the schedule of backups?" });
        await page.getByRole("button", { name: "End schedule…" }).click();
        await asked.getByText(folder).waitFor();
        await page.keyboard.press("Enter");
        await asked.waitFor({ state: "detached" });
        assert.equal((await api.get("/backup/schedule")).enabled, true);
        await page.getByRole("button", { name: "End schedule…" }).click();
        await asked.getByRole("button", { name: "End schedule" }).click();
        await page.getByText("Schedule ended. Its backups stay.").waitFor();
        assert.equal((await api.get("/backup/schedule")).enabled, false);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    "to remove a rule is undone": async (page) => {
      await page.show("experiences/2");
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByLabel("Destination URL of rule 1").fill("https://docs.example.com/rule");
      await page.getByRole("button", { name: "Remove rule 1" }).click();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByLabel("Destination URL of rule 1").waitFor();
      assert.equal(await page.getByLabel("Destination URL of rule 1").inputValue(), "https://docs.example.com/rule");
    },
    "needs a number within its bounds, and keeps what was typed": async (page, { api, tags }) => {
      const { id, location } = tags[31];
      await page.show(`tags/${id}?part=location`);
      const latitude = page.getByLabel("Latitude");
      await page.getByLabel("Longitude").fill("10");
      for (const text of ["48,4 north", "91", ""]) {
        await latitude.fill(text);
        await page.getByRole("button", { name: "Save location" }).click();
        assert.equal(await latitude.inputValue(), text);
        assert.equal(await latitude.evaluate((field) => field.validationMessage), "Enter a number from -90 to 90.");
      }
      assert.deepEqual((await api.get(`/tags/${id}`)).location, location);
      await latitude.fill("48,4");
      await latitude.press("ArrowUp");
      await page.getByRole("button", { name: "Save location" }).click();
      await page.getByText("Location saved.").waitFor();
      assert.equal((await api.get(`/tags/${id}`)).location.lat, 49.4);
      const made = await api.post("/experiences", redirect("By number"));
      await page.show(`experiences/${made.id}`);
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByLabel("Condition", { exact: true }).selectOption("the number of taps is");
      await page.getByRole("textbox", { name: "at least" }).fill("two");
      await page.getByRole("button", { name: "Save draft" }).click();
      assert.equal(await page.getByRole("textbox", { name: "at least" }).inputValue(), "two");
      assert.equal((await api.get(`/experiences/${made.id}`)).draft, false);
    },
    "for a passphrase is typed twice": async (page) => {
      await page.show("settings/backup");
      const save = page.getByRole("button", { name: "Save backup…" });
      await page.getByLabel("Passphrase", { exact: true }).fill("correct horse");
      assert.ok(await save.isDisabled());
      await page.getByLabel("Repeat passphrase").fill("correct hose");
      await page.getByText("The passphrases do not match.").waitFor();
      assert.ok(await save.isDisabled());
      await page.getByLabel("Repeat passphrase").fill("correct horse");
      assert.ok(await save.isEnabled());
    },
    "to remove a connection or a picture asks by name": async (page) => {
      await kioskHost(page);
      await page.addInitScript(() => {
        const { invoke } = globalThis.__TAURI_INTERNALS__;
        globalThis.host.removed = [];
        globalThis.__TAURI_INTERNALS__.invoke = async (command, payload) => {
          const answer = await invoke(command, payload);
          if (command === "shell_state")
            answer.connections.push({ id: "shop", name: "Shop", kind: "remote", url: "https://shop.example.com" });
          if (command.includes("remove")) globalThis.host.removed.push(payload);
          return answer;
        };
      });
      const removed = () => page.evaluate(() => globalThis.host.removed);
      await page.show("settings/connections");
      await page.getByRole("button", { name: "Remove…" }).click();
      const dialog = page.getByRole("dialog", { name: "Remove Shop?" });
      await dialog.getByRole("button", { name: "Cancel" }).click();
      assert.deepEqual(await removed(), []);
      await page.getByRole("button", { name: "Remove…" }).click();
      await dialog.getByRole("button", { name: "Remove connection" }).click();
      await page.getByText("Removed Shop.").waitFor();
      assert.deepEqual(await removed(), [{ id: "shop" }]);
      await page.show("settings/kiosk");
      await page.getByRole("button", { name: "Remove picture 1" }).click();
      await page.getByRole("dialog", { name: "Remove gone.png?" }).getByRole("button", { name: "Remove picture" }).click();
      await page.waitForFunction(() => globalThis.host.removed.length === 1);
      assert.deepEqual(await removed(), [{ name: "gone.png" }]);
    },
  },
});
