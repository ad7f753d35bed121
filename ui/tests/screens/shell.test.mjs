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
    "loads a screen again if one of its files is refused": async (page) => {
      const kinds = { css: ["templates", "URL templates"], js: ["encode", "Encode"] };
      for (const [kind, [place, title]] of Object.entries(kinds)) {
        await page.show("overview");
        let refused = 0;
        await page.route(`**/assets/*.${kind}`, (route) => (refused++ === 0 ? route.abort() : route.continue()));
        await page.evaluate((place) => (location.hash = `#/${place}`), place);
        await page.getByRole("heading", { name: title, exact: true }).first().waitFor();
        assert.ok(refused > 0, "a file was refused");
        await page.unrouteAll({ behavior: "wait" });
      }
      const sheets = await page.evaluate(() => [...document.querySelectorAll("link[rel=stylesheet]")].map((link) => !!link.sheet));
      assert.ok(sheets.every(Boolean), "every style is there");
    },
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
    "finds an interaction by its number, a test sheet, and a saved view": async (page, { api, tags }) => {
      await api.post("/sheets", { name: "Delivery of May", planned: 5, expected: {} });
      await api.tap(tags[0].slug);
      const { id } = (await api.get("/interactions?limit=1")).items[0];
      const number = `Interaction ${id.toLocaleString("en-GB")}`;
      await page.show("inlays?blocked=false");
      await page.getByRole("button", { name: "Views" }).click();
      await page.getByLabel("Name of the view").fill("Inlays in use");
      await page.getByLabel("Name of the view").press("Enter");
      await page.getByText("View Inlays in use saved.").waitFor();
      for (const [text, option, heading] of [
        [String(id), new RegExp(number), number],
        ["delivery of", /Delivery of May.*Test sheet/, "Delivery of May"],
        ["in use", /Inlays in use.*View of inlays/, "Inlays"],
      ]) {
        await palette(page);
        await page.keyboard.type(text);
        await page.getByRole("dialog").getByRole("option", { name: option }).click();
        await page.getByRole("heading", { name: heading, exact: true }).first().waitFor();
      }
      assert.match(page.url(), /#\/inlays\?blocked=false$/);
    },
    "offers no action, key or screen that the connection may not use": async (page) => {
      const may = { id: 3, name: "Field", scopes: ["read"], experience_ids: null, expires_at: null };
      await page.route("**/admin/v1/tokens/current", (route) => route.fulfill({ json: may }));
      await page.show("inlays");
      await page.getByRole("list", { name: "Inlays" }).waitFor();
      // Everything is offered until it is known what the connection may do.
      await page.getByRole("button", { name: "New inlay" }).waitFor({ state: "detached" });
      await page.keyboard.press("n");
      await page.keyboard.press("?");
      const sheet = page.getByRole("dialog", { name: "Shortcuts" });
      await sheet.waitFor();
      const does = await sheet.locator("dd").allTextContents();
      assert.ok(does.includes("Go to inlays") && !does.includes("Go to encode") && !does.includes("New inlay"), does.join());
      await page.keyboard.press("Escape");
      await sheet.waitFor({ state: "hidden" });
      await page.keyboard.press("Control+k");
      await page.keyboard.type("new t");
      await page.getByRole("dialog").getByText("No results for “new t”.").waitFor();
    },
    "undoes what was done last by its key": async (page, { api, tags }) => {
      const { id, name } = tags[5];
      const status = async () => (await api.get(`/tags/${id}`)).status;
      const before = await status();
      await page.show(`tags?q=${encodeURIComponent(name)}`);
      await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
      await page.getByRole("button", { name: "Archive" }).click();
      await page.getByText("1 tag archived.").waitFor();
      await page.keyboard.press("Control+z");
      await page.getByText("Undone.").waitFor();
      assert.equal(await status(), before);
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
    "says in its title what is shown, and gives the focus to the heading of a screen": async (page, { tags }) => {
      const focused = (name) =>
        page.waitForFunction((wanted) => document.activeElement.matches("h1") && document.activeElement.textContent === wanted, name);
      const titled = (name) => page.waitForFunction((wanted) => document.title === wanted, name);
      await page.show("overview");
      await titled("Overview · Tapdesk");
      await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Tags", exact: true }).click();
      await focused("Tags");
      await titled("Tags · Tapdesk");
      await page.keyboard.press("g");
      await page.keyboard.press(",");
      await focused("Settings");
      await page.getByRole("link", { name: "Appearance" }).click();
      await titled("Appearance · Settings · Tapdesk");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("go to experiences");
      await page.getByRole("dialog").getByRole("option", { name: "Go to experiences" }).waitFor();
      await page.keyboard.press("Enter");
      await focused("Experiences");
      await page.show(`tags/${tags[46].id}`);
      await titled(`${tags[46].name} · Tags · Tapdesk`);
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
