import assert from "node:assert/strict";
import { scaled, sizes } from "./browser.mjs";
import { desktopHost } from "./host.mjs";
import { group } from "./suite.mjs";

const palette = async (page) => {
  await page.show("overview");
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Search tags").waitFor();
};

const carriers = { port: 8787, inlays: 12, labels: 3, phones: false };
/** The desktop, which says this of itself. */
const desktop = async (page, changes) => {
  await desktopHost(page, { answers: {} });
  await page.show("overview");
  await page.evaluate((changes) => globalThis.host.become(changes), { address: "http://127.0.0.1:8790", ...changes });
};
const portTaken = {
  phase: "failed",
  problem: {
    kind: "port_in_use",
    title: "Port 8787 is used by another program.",
    text: "12 chips and 3 printed codes lead to port 8787. Close the other program and try again.",
    path: null,
    free_port: 8788,
    carriers,
  },
};

const found = {
  version: "9.0.0",
  url: "https://tapdesk.example/9.0.0",
  notes: "Encoding is twice as fast.\n\nNew chips: NTAG 424 DNA TT.",
};
/** The desktop, which has found a newer version. */
const withNewVersion = async (page) => {
  const source = { url: "https://tapdesk.example/latest.json", public_key: "RW" };
  await desktop(page, { releases: { source, looked_at: new Date().toISOString(), found, problem: null } });
  await page.getByRole("status").getByText("Tapdesk 9.0.0 is available.").waitFor();
};

/** Archives a tag of the list. */
async function archive(page, name, said = `${name} archived.`) {
  await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await page.locator(".notice").getByText(said).waitFor();
}

group("The frame", {
  states: {
    "a port that was left": async (page) => {
      await desktop(page, { moved: carriers });
      await page.getByRole("alert").getByText("The service moved from port 8787 to 8790.").waitFor();
    },
    "a newer version": withNewVersion,
    "its release notes": async (page) => {
      await withNewVersion(page);
      await page.getByRole("button", { name: "Release notes…" }).click();
      await page.getByRole("dialog", { name: "New in Tapdesk 9.0.0" }).getByText("Encoding is twice as fast.").waitFor();
    },
    "a port that cannot be left silently": async (page) => {
      await desktop(page, portTaken);
      await page.getByRole("heading", { name: "Port 8787 is used by another program." }).waitFor();
    },
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
    "recent changes": async (page) => {
      await page.show("tags");
      await archive(page, "Bottle 48");
      await page.getByRole("button", { name: "Recent changes" }).click();
      await page.getByRole("dialog", { name: "Recent changes" }).getByText("Bottle 48 archived.").waitFor();
      await page.getByRole("button", { name: "Undo: Bottle 48 archived." }).click();
      await page.getByText("Undone.").waitFor();
    },
    "a notice and a failure": async (page, { api }) => {
      const { id } = await api.post("/experiences", { name: "Unused", kind: "redirect", target_url: "https://shop.example.com" });
      const body = JSON.stringify({
        title: "Service unavailable",
        status: 503,
        code: "unavailable",
        detail: "The database does not answer.",
      });
      await page.route(`**/admin/v1/experiences/${id}`, (route) =>
        route.request().method() === "DELETE"
          ? route.fulfill({ status: 503, contentType: "application/problem+json", body })
          : route.continue(),
      );
      await page.show(`experiences/${id}`);
      await page.getByRole("button", { name: /^More actions for/ }).click();
      await page.getByRole("menuitem", { name: "Delete…" }).click();
      await page.getByRole("button", { name: "Delete experience" }).click();
      await page
        .getByRole("alert")
        .getByText(/does not answer/)
        .waitFor();
    },
  },
  stories: {
    "says on every screen that chips lead to another port, until it is back": async (page) => {
      await desktop(page, { moved: carriers });
      const line = page.getByRole("alert").getByText("12 chips and 3 printed codes no longer reach it.");
      for (const name of ["Tags", "Settings", "Encode"]) {
        await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true }).click();
        await line.waitFor();
      }
      await page.getByRole("button", { name: "Return to port 8787" }).click();
      await page.getByRole("button", { name: "Keep port 8790…" }).click();
      const dialog = page.getByRole("dialog", { name: "Keep port 8790?" });
      await dialog.getByText("12 chips and 3 printed codes lead to port 8787, and not to port 8790.").waitFor();
      await dialog.getByRole("button", { name: "Keep port 8790" }).click();
      assert.deepEqual(await page.evaluate(() => globalThis.host.ports), [
        ["fix_port", 8787],
        ["keep_port", null],
      ]);
      await page.evaluate(() => globalThis.host.become({ moved: null }));
      await line.waitFor({ state: "detached" });
    },
    "says once that it moved if nothing leads to the port": async (page) => {
      await desktop(page, { moved: { port: 8787, inlays: 0, labels: 0, phones: false } });
      const line = page.getByRole("status").getByText("Port 8787 is used by another program, so the service listens on port 8790.");
      await line.waitFor();
      await page.locator(".lines").getByRole("button", { name: "Close" }).click();
      await line.waitFor({ state: "detached" });
    },
    "offers three ways out of a port that is taken and that chips lead to": async (page) => {
      await desktop(page, portTaken);
      await page.getByText("On another port, 12 chips and 3 printed codes do not work until the service is back on port 8787.").waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("button", { name: "Use port 8788 instead" }).click();
      await page.getByLabel("Port", { exact: true }).fill("9000");
      await page.getByRole("button", { name: "Use this port" }).click();
      await page.waitForFunction(() => globalThis.host.ports.length === 3);
      assert.deepEqual(await page.evaluate(() => globalThis.host.ports), [
        ["restart_service", null],
        ["restart_service", 8788],
        ["restart_service", 9000],
      ]);
    },
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
    "finds actions by the words that people use, and an inlay by a part of its UID": async (page) => {
      for (const [text, option, heading] of [
        ["backup", /Make a backup/, "Backup"],
        ["csv upload", /Import tags from a file/, "Import tags"],
        ["print", /Print a test sheet/, "Test sheets"],
        ["0010:03", /04C0FFEE001003/, "04C0FFEE001003"],
      ]) {
        await palette(page);
        await page.keyboard.type(text);
        await page.getByRole("dialog").getByRole("option", { name: option }).click();
        await page.getByRole("heading", { name: heading, exact: true }).first().waitFor();
      }
      await palette(page);
      await page.keyboard.type("export");
      const saved = page.waitForEvent("download");
      await page.getByRole("option", { name: "Export tags as CSV" }).click();
      await saved;
      await page.getByText(/^\d+ tags exported\.$/).waitFor();
    },
    "finds an inlay by its UID, URL templates, and the move, with the keyboard only": async (page) => {
      for (const [text, option, heading] of [
        ["04:c0:ff:ee:00:10:03", /04C0FFEE001003/, "04C0FFEE001003"],
        ["bottles 20", /Bottles 2024/, "Bottles 2024"],
        ["move in", /Move in from another service/, "Move in"],
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
      await page.getByRole("grid", { name: "Inlays" }).waitFor();
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
      await page.getByText(`${name} archived.`).waitFor();
      await page.keyboard.press("Control+z");
      await page.getByText("Undone.").waitFor();
      assert.equal(await status(), before);
    },
    "names what it did, groups repeats, and takes no room of the screen": async (page, { api, tags }) => {
      await page.show("tags");
      await page.getByText("Bottle 48").waitFor();
      const box = () => page.getByRole("main").boundingBox();
      const before = await box();
      await archive(page, "Bottle 48");
      await archive(page, "Lamp 47", "2 tags archived.");
      assert.deepEqual(await box(), before);
      assert.equal(await page.locator(".notice").count(), 1);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.locator(".notice", { hasText: "2 tags archived." }).getByText("Undone.").waitFor();
      for (const { id } of tags.filter(({ name }) => ["Bottle 48", "Lamp 47"].includes(name)))
        assert.equal((await api.get(`/tags/${id}`)).status, "active");
    },
    "undoes what was done before by the recent changes and by its key, after the notice is gone": async (page, { api, tags }) => {
      const of = async (name) => (await api.get(`/tags/${tags.find((tag) => tag.name === name).id}`)).status;
      await page.show("tags");
      for (const name of ["Bottle 48", "Lamp 47", "Guitar 46"]) {
        await archive(page, name);
        await page.getByRole("button", { name: /^Close: / }).click();
      }
      assert.equal(await page.locator(".notice").count(), 0);
      await page.keyboard.press("g");
      await page.keyboard.press(",");
      await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
      await page.keyboard.press("Control+z");
      await page.locator(".notice", { hasText: "Guitar 46 archived." }).getByText("Undone.").waitFor();
      await page.getByRole("button", { name: "Recent changes" }).press("Enter");
      const list = page.getByRole("dialog", { name: "Recent changes" });
      assert.deepEqual(await list.getByRole("listitem").locator("div > span:first-child").allTextContents(), [
        "Lamp 47 archived.",
        "Bottle 48 archived.",
      ]);
      // Its notice joins the one before, if that is still shown.
      const undone = page.waitForResponse(/\/tags\/bulk/);
      await list.getByRole("button", { name: "Undo: Bottle 48 archived." }).press("Enter");
      await undone;
      assert.deepEqual(await Promise.all(["Bottle 48", "Lamp 47", "Guitar 46"].map(of)), ["active", "archived", "active"]);
      // The list leaves a change out as soon as its undo begins.
      const lastUndone = page.waitForResponse(/\/tags\/bulk/);
      await list.getByRole("button", { name: "Undo: Lamp 47 archived." }).click();
      await list.getByText("Changes that you make in this window are listed here").waitFor();
      await lastUndone;
      assert.equal(await of("Lamp 47"), "active");
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
    "begins with a link past the bar and the navigation": async (page) => {
      await page.show("tags");
      await page.keyboard.press("Tab");
      const link = page.getByRole("link", { name: "Skip to content" });
      assert.equal(await link.evaluate((one) => one === document.activeElement), true);
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.activeElement.matches("main h1"));
      assert.match(page.url(), /#\/tags$/);
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => !!document.activeElement.closest("main")), true);
    },
    "has every screen within reach at 150 and 200 percent in the smallest window": async (page, { tags }) => {
      for (const percent of [150, 200]) {
        const { viewport } = scaled(sizes[0], percent);
        await page.setViewportSize(viewport);
        await page.show("overview");
        const links = page.getByRole("navigation", { name: "Screens" }).getByRole("link");
        for (const link of await links.all()) {
          await link.focus();
          const { x, y, width, height } = await link.boundingBox();
          assert.ok(x >= 0 && x + width <= viewport.width && y >= 0 && y + height <= viewport.height, await link.textContent());
        }
        await links.last().click();
        await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
        // What has the focus is not below a bar that stays: the field of a form above its buttons, below its tabs.
        await page.show(`tags/${tags[46].id}`);
        await page.getByRole("tab", { name: "Details" }).focus();
        for (let number = 0; number < 25; number++) {
          await page.keyboard.press("Tab");
          const hidden = await page.evaluate(() => {
            const focused = document.activeElement;
            const { left, top, width, height } = focused.getBoundingClientRect();
            if (focused.closest(".tabs, .sticky") || focused === document.body) return null;
            const above = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 12));
            return above && (focused.contains(above) || above.contains(focused) || focused.labels?.[0]?.contains(above))
              ? null
              : `${focused.outerHTML.slice(0, 120)} is below ${above?.outerHTML.slice(0, 120)}`;
          });
          assert.equal(hidden, null);
        }
      }
    },
  },
});
