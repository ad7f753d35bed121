import assert from "node:assert/strict";
import { group } from "./suite.mjs";

const the = (page) => page.getByRole("switch", { name: /Demo world/ });

/** Switches to the demo world on the overview. */
async function demo(page) {
  await page.show("overview");
  await the(page).waitFor();
  if ((await the(page).getAttribute("aria-checked")) === "false") await the(page).click();
  await page.getByRole("switch", { name: "Demo world on" }).waitFor();
}

group("The demo world", {
  states: {
    overview: async (page) => {
      await demo(page);
      await page.locator(".number").first().waitFor();
    },
    tags: async (page) => {
      await demo(page);
      await page.getByRole("link", { name: "Tags", exact: true }).click();
      await page.getByText("demo-bottle").waitFor();
    },
  },
  stories: {
    "is one switch for all screens": async (page, { api, tags }) => {
      const slugs = (await api.get("/tags?simulated=true")).items.map(({ slug }) => slug);
      const own = page.getByText(tags.at(-1).slug, { exact: true });
      await page.show("tags");
      await own.waitFor();
      assert.equal(await page.getByText("demo-bottle").count(), 0);
      await the(page).click();
      for (const slug of slugs) await page.getByText(slug, { exact: true }).waitFor();
      assert.equal(await own.count(), 0);
      // A tag that is created is the owner's, and simulated tags are not exported.
      for (const name of ["New tag", "Import…", "Export tags"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);

      const [inlay] = (await api.get("/inlays?simulated=true")).items;
      await page.getByRole("link", { name: "Inlays", exact: true }).click();
      await page.getByText(inlay.uid).waitFor();
      for (const uid of await page.locator("[data-row] .long-uid").allTextContents()) {
        assert.equal((await api.get(`/inlays?uid=${uid}`)).items[0].simulated, true, uid);
      }
      // No list has a filter for it any more.
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await page.getByRole("menuitem", { name: "Chip" }).waitFor();
      assert.equal(await page.getByRole("menuitem", { name: "World" }).count(), 0);
      await page.keyboard.press("Escape");

      // It is on after a reload, and every screen shows the own tags once it is off.
      await page.reload();
      await page.getByRole("switch", { name: "Demo world on" }).waitFor();
      await page.getByText(inlay.uid).waitFor();
      await the(page).click();
      await page.getByText(inlay.uid).waitFor({ state: "detached" });
      assert.equal(await the(page).getAttribute("aria-checked"), "false");
    },
    "has its own numbers, and the palette finds its tags only": async (page) => {
      await page.show("overview");
      const total = page.locator(".number").first();
      const own = await total.textContent();
      await the(page).click();
      await page.waitForFunction((own) => {
        const shown = document.querySelector(".number")?.textContent;
        return shown !== undefined && shown !== own;
      }, own);
      const asked = page.waitForResponse((answer) => /\/tags\?.*q=demo-bottle/.test(answer.url()));
      await page.keyboard.press("Control+k");
      await page.keyboard.type("demo-bottle");
      assert.match((await asked).url(), /simulated=true/);
      await page.getByRole("option", { name: /demo-bottle/ }).waitFor();
      await page.keyboard.press("Escape");
    },
    "is marked along the whole edge": async (page, { tags }) => {
      const height = () => page.locator(".band").evaluate((band) => band.getBoundingClientRect().height);
      await page.show("tags");
      await page.getByText(tags.at(-1).slug, { exact: true }).waitFor();
      assert.equal(await height(), 0);
      await the(page).click();
      await page.getByText("demo-bottle").waitFor();
      assert.equal(await height(), 6);
    },
  },
});
