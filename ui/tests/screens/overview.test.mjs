import assert from "node:assert/strict";
import { group } from "./suite.mjs";

group("The overview", {
  states: {
    "a day": (page) => page.show("overview"),
    "a month": async (page) => {
      await page.show("overview");
      await page.getByRole("button", { name: "30 days" }).click();
      await page.getByText("Taps per day").waitFor();
    },
  },
  stories: {
    "each problem that needs attention has a link to its list": async (page) => {
      await page.show("overview");
      await page.getByRole("link", { name: /\d+ replays/ }).click();
      await page.locator(".reason", { hasText: "replayed" }).first().waitFor();
      await page.goBack();
      await page.getByRole("link", { name: /counter gap/ }).click();
      await page.getByText("2 missed").waitFor();
      assert.equal(await page.getByRole("list", { name: "Interactions" }).getByRole("listitem").count(), 1);
      await page.goBack();
      await page.getByRole("link", { name: /not set up/ }).click();
      await page.locator(".experience", { hasText: "not set up" }).first().waitFor();
    },
    "a tap changes the picture as it happens": async (page, { api, tags }) => {
      await page.show("overview");
      const total = page.locator(".number").first();
      const before = Number(await total.textContent());
      await api.tap(tags[0].slug);
      await page.waitForFunction((before) => Number(document.querySelector(".number").textContent) > before, before);
    },
    "the demo data is removed with one click, and restored with undo": async (page, { api }) => {
      const demo = async () => (await api.get("/tags?simulated=true")).items.length;
      await page.show("overview");
      await page.getByRole("button", { name: "Remove demo data" }).click();
      await page.getByText("Demo data removed").waitFor();
      assert.equal(await demo(), 0);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("button", { name: "Remove demo data" }).waitFor();
      assert.equal(await demo(), 3);
    },
  },
});
