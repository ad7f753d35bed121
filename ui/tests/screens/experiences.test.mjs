import assert from "node:assert/strict";
import { group } from "./suite.mjs";

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
    },
    "macros to choose from": async (page) => {
      await page.show("experiences/1");
      await page.getByLabel("Where a tap leads").fill("https://example.com/?a={{ ta");
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
      const target = page.getByLabel("Where a tap leads");
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
    "are changed as a draft, published, and rolled back": async (page, { api }) => {
      await page.show("experiences/3");
      const target = page.getByLabel("Where a tap leads");
      await target.fill("https://shop.example.com/new");
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Saved as a draft.").waitFor();
      assert.equal((await api.get("/experiences/3")).published_version, 1);
      await page.getByRole("button", { name: "Publish", exact: true }).click();
      await page.getByText("Published:").waitFor();
      assert.equal((await api.get("/experiences/3")).published_version, 2);
      await page.getByRole("button", { name: "Publish again" }).click();
      await page.getByText("Version 1 is published again.").waitFor();
      await page.waitForFunction(() => document.querySelector("textarea").value.includes("verification:result"));
    },
    "lead to the tags that use them, and are not deleted while they do": async (page) => {
      await page.show("experiences/2");
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.getByRole("button", { name: "Delete it" }).click();
      await page.getByRole("alert").getByText(/tags/).waitFor();
      await page.getByRole("link", { name: /^\d+ tags$/ }).click();
      await page.waitForFunction(() => document.querySelectorAll(".experience").length > 0);
      // An archived tag says so in the place of its experience.
      const shown = await page.locator(".experience:not(.soft)").allTextContents();
      assert.ok(shown.every((name) => name.trim() === "Manual and downloads"), shown.join());
    },
  },
});
