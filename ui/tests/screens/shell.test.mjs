import assert from "node:assert/strict";
import { group } from "./suite.mjs";

const palette = async (page) => {
  await page.show("overview");
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Search tags").waitFor();
};

group("The frame", {
  states: {
    palette,
    "palette with tags": async (page) => {
      await palette(page);
      await page.keyboard.type("watch");
      await page.getByRole("option", { name: /watch-045/ }).waitFor();
    },
    shortcuts: async (page) => {
      await page.show("tags");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    },
    "a notice and a failure": async (page) => {
      await page.show("experiences/1");
      await page.getByRole("button", { name: /^More actions for/ }).click();
      await page.getByRole("menuitem", { name: "Delete…" }).click();
      await page.getByRole("button", { name: "Delete experience" }).click();
      await page.getByRole("alert").getByText(/tags/).waitFor();
    },
  },
  stories: {
    "finds a tag and runs a command with the keyboard only": async (page) => {
      await palette(page);
      await page.keyboard.type("watch-045");
      await page.getByRole("option", { name: /watch-045/ }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Watch 45" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type("go to settings");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
    },
    "opens the first that is found if Enter came before it": async (page) => {
      await palette(page);
      await page.keyboard.type("watch-045");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Watch 45" }).waitFor();
    },
    "finds experiences, settings and what was looked at last with the keyboard only": async (page, { tags }) => {
      const heading = (name) => page.getByRole("heading", { name, exact: true }).first().waitFor();
      const open = async (text, name) => {
        await page.keyboard.press("Control+k");
        await page.getByPlaceholder("Search tags").waitFor();
        await page.keyboard.type(text);
        await page.getByRole("dialog").getByRole("option", { name }).waitFor();
        await page.keyboard.press("Enter");
        await page.getByPlaceholder("Search tags").waitFor({ state: "hidden" });
      };
      await page.show(`tags/${tags[46].id}`);
      await heading(tags[46].name);
      await open("manual and", /Manual and downloads/);
      await heading("Manual and downloads");
      await open("master", /Master keys/);
      await heading("Master keys");
      await open("retention", /Retention.*Service/);
      await heading("Service settings");
      // The experience was the last thing, the tag the one before.
      await page.keyboard.press("Control+k");
      const first = (number) => page.getByRole("group", { name: "Recent" }).getByRole("option").nth(number);
      await first(0).getByText("Manual and downloads").waitFor();
      await first(1).getByText(tags[46].name).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await heading(tags[46].name);
    },
    "finds an inlay by its UID, URL templates, and the move, with the keyboard only": async (page) => {
      for (const [text, option, heading] of [
        ["04:c0:ff:ee:00:10:03", /04C0FFEE001003/, "04C0FFEE001003"],
        ["bottles 20", /Bottles 2024/, "Bottles 2024"],
        ["bring", /Bring your inlays/, "Bring your inlays"],
      ]) {
        await palette(page);
        await page.keyboard.type(text);
        await page.getByRole("dialog").getByRole("option", { name: option }).waitFor();
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: heading, exact: true }).first().waitFor();
      }
    },
    "loses no letter that is typed right after opening the palette": async (page) => {
      await page.show("overview");
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate: 20 });
      await page.keyboard.press("Control+k");
      await page.keyboard.type("watch-045");
      assert.equal(await page.getByPlaceholder("Search tags").inputValue(), "watch-045");
    },
    "runs shortcuts only outside of fields": async (page) => {
      await page.show("overview");
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      await page.getByRole("heading", { name: "Tags", exact: true }).waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("n?gi");
      assert.equal(await page.getByLabel("Search tags").inputValue(), "n?gi");
      assert.equal(await page.getByRole("dialog").count(), 0);
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press("n");
      await page.getByRole("dialog", { name: "New tag" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
    },
    "goes back and forth through what was looked at": async (page, { tags }) => {
      await page.show("tags");
      await page.getByRole("link", { name: tags[47].name }).click();
      await page.getByRole("heading", { name: tags[47].name }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: tags[47].name }).waitFor({ state: "hidden" });
      await page.goForward();
      await page.getByRole("heading", { name: tags[47].name }).waitFor();
    },
  },
});
