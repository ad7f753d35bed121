import assert from "node:assert/strict";
import { kioskHost } from "./host.mjs";
import { group } from "./suite.mjs";

group("Kiosk settings", {
  states: {
    "its settings in a browser": async (page) => {
      await page.show("settings/kiosk");
      await page.getByText("Set up a kiosk on its own computer").waitFor();
    },
    // The stand-in for the host stays until the page closes, so this comes last.
    "its settings": async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByRole("heading", { name: "Visits" }).waitFor();
    },
  },
  stories: {
    "is seen from the desk": async (page) => {
      const state = { has_screen: true, has_reader: false, visits_today: 41, last_visit_at: null };
      const answer = { state };
      await page.route("**/admin/v1/kiosk", (route) => route.fulfill({ json: answer }));
      await page.show("settings/kiosk");
      await page.getByRole("heading", { name: "Kiosk of this service" }).waitFor();
      await page.getByText("41 visits").waitFor();
      await page.getByText("None yet").waitFor();
      answer.state = null;
      await page.getByRole("button", { name: "Refresh" }).click();
      await page.getByText("shows no kiosk now").waitFor();
    },
    "is set up in one sheet, and shown as it will be": async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByRole("group", { name: "Template" }).getByRole("button", { name: "Shop counter" }).click();
      assert.equal(await page.getByLabel("A visit ends after").inputValue(), "30");
      const preview = page.locator("figure", { hasText: "Winery Lindenhof" });
      await preview.getByText("Is it genuine?").waitFor();
      await page.getByLabel("Moment").selectOption("Genuine tag");
      await preview.getByText("Your tag is genuine.").waitFor();
      await page.getByText("This computer has no font for 日本語").waitFor();
      await page.getByText("apt install fonts-noto-cjk").waitFor();
      const languages = page.getByRole("group", { name: "Languages" });
      for (const name of ["日本語", "中文"]) await languages.getByRole("checkbox", { name }).uncheck();
      assert.equal(await page.getByText("has no font").count(), 0);
      await page.getByLabel("After the PIN").selectOption("Open this window");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.waitForFunction(() => globalThis.host.chosen.length === 1);
      const [chosen] = await page.evaluate(() => globalThis.host.chosen);
      assert.equal(chosen.languages.length, 10);
      assert.equal(chosen.leaves_to, "window");
    },
    "shows the owner's colour and name as they are chosen, and what can be read on it": async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      const look = page.locator("figure", { hasText: "Winery Lindenhof" });
      await look.getByText("Text white").waitFor();
      await page.getByLabel("Colour", { exact: true }).fill("#ffd34d");
      await look.getByText("Text black, contrast 14").waitFor();
      await page.getByLabel("Your name").fill("Lemon & Co.");
      await page.locator("figure", { hasText: "Lemon & Co." }).waitFor();
      // The strip of a visit counts at most its last fifteen seconds.
      const strip = page.locator("figure", { hasText: "This page closes in" });
      await strip.getByText("in 15 seconds").waitFor();
      await page.getByLabel("A visit ends after").fill("9");
      await strip.getByText("in 9 seconds").waitFor();
      await page.getByRole("button", { name: "Use Tapdesk's own" }).click();
      await page.getByText("Tapdesk's own", { exact: true }).waitFor();
    },
    "is limited to the tags of a group": async (page, { api }) => {
      const { id } = await api.post("/groups", { kind: "product", name: "Exhibit wine" });
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByRole("button", { name: "Tags of: All tags" }).click();
      const dialog = page.getByRole("dialog", { name: "Tags of" });
      await dialog.getByRole("treeitem", { name: /Exhibit wine/ }).click();
      await dialog.getByRole("button", { name: "Choose", exact: true }).click();
      await page.getByRole("button", { name: "Tags of: Exhibit wine" }).waitFor();
      await api.remove(`/groups/${id}`);
      // A colleague's change is found when the window gets the focus.
      await page.evaluate(() => dispatchEvent(new Event("focus")));
      await page.getByText("This group was deleted").waitFor();
    },
    "the code for phones is one at any address of this computer": async (page, { api }) => {
      const tag = await api.post("/tags", { name: "Exhibit code", slug: "exhibit-code" });
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByRole("combobox", { name: "Tag of the QR code" }).fill("Exhibit code");
      await page.getByRole("option", { name: /Exhibit code/ }).click();
      await page.getByText("http://192.0.2.7:8787/t/exhibit-code").waitFor();
      await page.evaluate(() => globalThis.host.become({ lan: ["http://192.0.2.9:8787"] }));
      await page.getByText("http://192.0.2.9:8787/t/exhibit-code").waitFor();
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.waitForFunction(() => globalThis.host.chosen.length === 1);
      assert.equal(await page.evaluate(() => globalThis.host.chosen[0].code), "/t/exhibit-code");
      await api.remove(`/tags/${tag.id}`);
    },
    "starts at once, or asks if that would discard what was typed": async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      const started = () => page.evaluate(() => globalThis.host.started);
      const start = page.getByRole("button", { name: "Start kiosk" });
      await start.click();
      assert.deepEqual(await started(), [{ discard: false }]);
      await page.getByLabel("Heading").fill("Half-typed");
      await start.click();
      const question = page.getByRole("dialog", { name: "Start the kiosk and discard 1 unsaved form?" });
      await question.getByRole("listitem").getByText("Kiosk", { exact: true }).waitFor();
      await question.getByRole("button", { name: "Cancel" }).click();
      assert.equal((await started()).length, 1);
      assert.equal(await page.getByLabel("Heading").inputValue(), "Half-typed");
      await start.click();
      await question.getByRole("button", { name: "Start and discard" }).click();
      assert.deepEqual((await started())[1], { discard: true });
    },
    "tells of today what happened, and nothing that did not": async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByText("3 unreadable tags · 2 tags of another host").waitFor();
      assert.equal(await page.getByText(/copied|failed page/).count(), 0);
      // A PIN that is set is no longer in the way of what is changed more often.
      const titles = await page.locator("main h2").allTextContents();
      assert.deepEqual(titles, ["Kiosk", "Welcome page", "Pictures", "Visits", "When a tag is read", "Touch", "Start and end", "PIN"]);
    },
    "says whether it starts with everyone's session or with the owner's only": async (page) => {
      const start = (who) => page.getByRole("switch", { name: `Start the kiosk when ${who} in to this computer` });
      await kioskHost(page);
      await page.show("settings/kiosk");
      await start("I log").waitFor();
      await page.getByText("It applies only to you").waitFor();
      await kioskHost(page, {}, { autostart_for_all: true });
      await page.show("settings/kiosk");
      await start("anyone logs").waitFor();
      await page.getByText("It applies to every user").waitFor();
    },
    "the hosts of the owner's experiences are added at once": async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByRole("button", { name: "Add hosts of my experiences" }).click();
      const field = page.getByLabel("Allowed hosts");
      await page.waitForFunction((one) => one.value !== "", await field.elementHandle());
      for (const host of (await field.inputValue()).split("\n")) assert.match(host, /^[a-z0-9.-]+(:\d+)?$/);
    },
  },
});
