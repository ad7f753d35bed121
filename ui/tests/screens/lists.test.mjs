// One list for every screen: the keyboard does all that the mouse does, what is read
// does not move, and what failed is tried again.

import assert from "node:assert/strict";
import { group } from "./suite.mjs";

const list = (page, name = "Tags") => page.getByRole("grid", { name, exact: true });
/** The part of a list that scrolls. */
const scroller = (page) => page.locator("[role=grid] .rows");
const active = (page) =>
  page.evaluate(
    () => document.activeElement.closest("[data-id]")?.querySelector(".name").textContent ?? document.activeElement.textContent,
  );
/** Waits until the row of this name has the focus. */
const on = (page, name) =>
  page.waitForFunction((wanted) => document.activeElement.closest("[data-id]")?.querySelector(".name").textContent === wanted, name);
/** Scrolls the list of tags to a row. Until it stands still it takes no clicks, and whoever clicks would move it on. */
const scrollTo = async (page, top, row) => {
  await scroller(page).evaluate((one, to) => one.scrollTo({ top: to }), top);
  // The row is there once the list has heard of it.
  await list(page).getByText(row).waitFor();
  await page.waitForFunction(() => {
    const rows = document.querySelector("[role=grid][aria-label=Tags] .rows");
    return getComputedStyle(rows.firstElementChild).pointerEvents !== "none";
  });
};
const many = async (api) => {
  if ((await api.get("/tags?q=row-0&limit=1&count=true")).count > 0) return;
  const rows = Array.from({ length: 240 }, (_, index) => `Row ${String(index).padStart(3, "0")},row-0${String(index).padStart(4, "0")}`);
  await api.csv("/tags/import", `name,slug\n${rows.join("\n")}\n`);
};

group("A list", {
  states: {
    "with a row in hand": async (page) => {
      await page.show("tags");
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.getByText("1 tag selected").waitFor();
    },
    "whose next page failed": async (page, { api }) => {
      await many(api);
      await page.route("**/admin/v1/tags?*after=*", (route) =>
        route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"detail":"The disk is full."}' }),
      );
      await page.show("tags?q=row-0&sort=name");
      await page.keyboard.press("j");
      await page.keyboard.press("End");
      await page.getByRole("alert").getByText("The disk is full.").waitFor();
      await page.unroute("**/admin/v1/tags?*after=*");
    },
    "with new rows that wait": async (page, { api, tags }) => {
      await page.show("interactions");
      await page.keyboard.press("j");
      await api.tap(tags[0].slug);
      await page.getByRole("button", { name: /new$/ }).waitFor();
    },
  },
  stories: {
    "keeps its filters as views under a name, over a restart, which are removed with undo": async (page) => {
      await page.show("tags?q=crate&sort=name");
      await page.getByRole("button", { name: "Views" }).click();
      await page.getByLabel("Name of the view").fill("Crates by name");
      await page.getByLabel("Name of the view").press("Enter");
      await page.getByText("View Crates by name saved.").waitFor();
      await page.show("tags");
      await page.getByRole("button", { name: "Views" }).click();
      await page.getByRole("link", { name: "Crates by name" }).click();
      assert.match(page.url(), /q=crate/);
      // By its whole name: the list that closes still has "Remove view Crates by name".
      const chosen = page.getByRole("button", { name: "Crates by name", exact: true });
      await chosen.click();
      await page.getByRole("button", { name: "Remove view Crates by name" }).click();
      await page.locator(".notice", { hasText: "removed" }).getByRole("button", { name: "Undo" }).click();
      await chosen.waitFor();
    },
    "that is short follows what others create and remove": async (page, { api }) => {
      await page.show("settings/tokens");
      const others = list(page, "Tokens").getByText("A colleague's token");
      await page.getByRole("button", { name: "New token…" }).waitFor();
      assert.equal(await others.count(), 0);
      const { id } = await api.post("/tokens", { name: "A colleague's token", scopes: ["read"] });
      await others.waitFor();
      await api.remove(`/tokens/${id}`);
      await others.waitFor({ state: "detached" });
    },
    "of each kind keeps views of its own": async (page) => {
      for (const place of ["inlays?blocked=false", "submissions?verification=verified", "interactions?verification=verified"]) {
        await page.show(place);
        await page.getByRole("button", { name: "Views" }).click();
        await page.getByLabel("Name of the view").fill("Kept filters");
        await page.getByLabel("Name of the view").press("Enter");
        await page.show(place.split("?")[0]);
        await page.getByRole("button", { name: "Views" }).click();
        await page.getByRole("link", { name: "Kept filters", exact: true }).click();
        await page.getByRole("button", { name: "Kept filters", exact: true }).waitFor();
        assert.equal(new URL(page.url()).hash, `#/${place}`);
      }
    },
    "is walked, opened and left by keys, and the focus goes along": async (page, { tags }) => {
      const newest = tags.filter(({ name }) => name.startsWith("Crate")).reverse();
      await page.show("tags?q=crate");
      await page.keyboard.press("j");
      await on(page, newest[0].name);
      await page.keyboard.press("j");
      await page.keyboard.press("ArrowDown");
      await on(page, newest[2].name);
      await page.keyboard.press("k");
      await on(page, newest[1].name);
      await page.keyboard.press("End");
      await on(page, newest.at(-1).name);
      await page.keyboard.press("Home");
      await page.keyboard.press("ArrowDown");
      await on(page, newest[1].name);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: newest[1].name }).waitFor();
      await page.waitForFunction(() => document.activeElement.localName === "h2");
      // The pane may cover the list.
      const row = page.locator("[role=grid][aria-label=Tags] [role=row][aria-current=true]");
      assert.equal(await row.locator(".name").textContent(), newest[1].name);
      // Its header is the first row.
      assert.equal(await row.getAttribute("aria-rowindex"), "3");
      assert.equal(await page.locator("[role=grid][aria-label=Tags]").getAttribute("aria-rowcount"), String(newest.length + 1));
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.closest("aside") !== null), true);
      await page.keyboard.press("Escape");
      await on(page, newest[1].name);
      assert.match(page.url(), /#\/tags\?q=crate$/);
    },
    "gives the focus to what a row leads to once it is loaded": async (page, { tags }) => {
      const [newest] = tags.filter(({ name }) => name.startsWith("Crate")).reverse();
      await page.route(`**/admin/v1/tags/${newest.id}`, async (route) => {
        await page.getByText("Loading the tag…").waitFor();
        await route.continue();
      });
      await page.show("tags?q=crate");
      await page.keyboard.press("j");
      await on(page, newest.name);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: newest.name }).waitFor();
      await page.waitForFunction(() => document.activeElement.localName === "h2");
      await page.unrouteAll();
    },
    "is entered by an arrow after each jump: the navigation, the palette, a filter, a search, and a pane that closed": async (page) => {
      const first = () => list(page).locator("[data-row]").first().getAttribute("data-row");
      /** Waits until an arrow leads from here to the first row. */
      const enters = async () => {
        await page.keyboard.press("ArrowDown");
        const row = await first();
        await page.waitForFunction((id) => document.activeElement.dataset.row === id, row);
      };
      await page.show("overview");
      await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Tags", exact: true }).press("Enter");
      await list(page).waitFor();
      await enters();
      await page.keyboard.press("g");
      await page.keyboard.press("o");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type("go to tags");
      await page.getByRole("dialog").getByRole("option", { name: "Go to tags" }).waitFor();
      await page.keyboard.press("Enter");
      await list(page).waitFor();
      await enters();
      await page.keyboard.press("f");
      await page.getByRole("menuitem", { name: "Status" }).waitFor();
      await page.keyboard.press("s");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Status: Active" }).waitFor();
      await page.waitForFunction(() => document.activeElement.matches("main h1"));
      await enters();
      await page.keyboard.press("/");
      await page.keyboard.type("watch");
      // Until then the rows of other letters may go, and the focus with them.
      await list(page).locator("[data-row]").first().getByText("Watch 45").waitFor();
      await enters();
      // Each key of the row is in reach: its checkbox, and its button.
      await page.keyboard.press("ArrowRight");
      assert.equal(await page.evaluate(() => document.activeElement.type), "checkbox");
      await page.keyboard.press("ArrowRight");
      assert.match(await page.evaluate(() => document.activeElement.ariaLabel), /^Copy the URL of/);
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      assert.equal(await page.evaluate(() => document.activeElement.role), "row");
      await page.keyboard.press("Space");
      await page.getByText("1 tag selected").waitFor();
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.activeElement.localName === "h2");
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => document.activeElement.dataset.row !== undefined);
      await page.keyboard.press("ArrowDown");
      await page.waitForFunction(
        (row) => document.activeElement.dataset.row === row,
        await list(page).locator("[data-row]").nth(1).getAttribute("data-row"),
      );
    },
    "is filtered by keys that are faster than the frames of a busy computer": async (page) => {
      await page.show("tags");
      await page.evaluate(() => {
        window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 1_000);
        window.cancelAnimationFrame = clearTimeout;
      });
      for (const key of ["f", "s", "ArrowRight", "Enter"]) await page.keyboard.press(key);
      await page.getByRole("button", { name: "Status: Active" }).waitFor();
    },
    "is one stop of the Tab key": async (page) => {
      await page.show("tags");
      await page.getByRole("button", { name: "Views" }).focus();
      for (let stop = 0; stop < 5; stop++) await page.keyboard.press("Tab");
      // Three columns that sort, the row, and what comes after the list.
      assert.equal(await page.evaluate(() => document.activeElement.closest("[role=grid]") === null), true);
    },
    "selects by a click, by shift and by x": async (page) => {
      await page.show("tags?sort=name");
      const boxes = list(page).getByRole("checkbox");
      await boxes.nth(1).click();
      await page.getByText("1 tag selected").waitFor();
      await boxes.nth(4).click({ modifiers: ["Shift"] });
      await page.getByText("4 tags selected").waitFor();
      assert.equal(await boxes.nth(3).isChecked(), true);
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.getByText(/^[35] tags selected$/).waitFor();
      await page.getByRole("button", { name: "Clear selection" }).click();
      await page.keyboard.press("Home");
      await page.keyboard.press("k");
      await page.keyboard.press("Shift+ArrowDown");
      await page.keyboard.press("Shift+ArrowDown");
      await page.getByText("3 tags selected").waitFor();
    },
    "selects a range by Shift and a click on a row, which opens neither the row nor a window": async (page) => {
      await page.show("tags?sort=name");
      await page.keyboard.press("j");
      await list(page)
        .getByRole("link")
        .nth(3)
        .click({ modifiers: ["Shift"] });
      await page.getByText("4 tags selected").waitFor();
      assert.match(page.url(), /#\/tags\?sort=name$/);
      assert.equal(page.context().pages().length, 1);
    },
    "sorts by its columns, and the address says so": async (page) => {
      await page.show("tags");
      const name = page.getByRole("columnheader", { name: "Name" });
      assert.equal(await name.getAttribute("aria-sort"), "none");
      await name.getByRole("button").click();
      assert.match(page.url(), /sort=name/);
      await list(page).getByText("Bicycle 10").waitFor();
      assert.equal(await name.getAttribute("aria-sort"), "ascending");
      await name.getByRole("button").click();
      assert.match(page.url(), /sort=-name/);
      await list(page).getByText("Watch 5", { exact: true }).waitFor();
      assert.equal(await name.getAttribute("aria-sort"), "descending");
      assert.equal(await page.getByRole("columnheader", { name: "Slug" }).getAttribute("aria-sort"), null);
    },
    "keeps the rows that are there if the next page fails, and tries it again": async (page, { api }) => {
      await many(api);
      let broken = true;
      await page.route("**/admin/v1/tags?*after=*", (route) =>
        broken
          ? route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"detail":"The disk is full."}' })
          : route.continue(),
      );
      await page.show("tags?q=row-0&sort=name");
      await page.keyboard.press("j");
      await page.keyboard.press("End");
      const alert = page.getByRole("alert").filter({ hasText: "The disk is full." });
      await alert.waitFor();
      await list(page).getByText("Row 099").waitFor();
      broken = false;
      await alert.getByRole("button", { name: "Try again" }).click();
      await alert.waitFor({ state: "hidden" });
      // The row below is there, a little out of sight.
      await list(page).getByText("Row 100").waitFor({ state: "attached" });
      await page.keyboard.press("j");
      await page.keyboard.press("End");
      await on(page, "Row 239");
    },
    "goes to its end by End, beyond the rows that are loaded, and is there again after another screen": async (page, { api }) => {
      await many(api);
      await page.show("tags?q=row-0&sort=name");
      const scroll = () => scroller(page).evaluate((one) => one.scrollTop);
      await page.keyboard.press("j");
      await page.keyboard.press("End");
      await on(page, "Row 239");
      const end = await scroll();
      await page.keyboard.press("g");
      await page.keyboard.press("o");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.goBack();
      await list(page).getByText("Row 239").waitFor();
      assert.equal(await scroll(), end);
    },
    "loses no key while a row comes into sight, and keeps the focus while it leaves it": async (page, { api }) => {
      await many(api);
      await page.show("tags?q=row-0&sort=name");
      const away = () => scrollTo(page, 1800, "Row 055");
      await page.keyboard.press("j");
      await away();
      await page.keyboard.press("ArrowDown");
      await on(page, "Row 001");
      await page.evaluate(() => document.activeElement.blur());
      await away();
      // In one task: no frame lies between, in which the row could come.
      await page.evaluate(() => {
        for (const key of ["j", "ArrowDown"]) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      });
      await on(page, "Row 003");
    },
    "keeps its place when rows change and while another screen is shown": async (page, { api }) => {
      await many(api);
      await page.show("tags?q=row-0&sort=name");
      const scroll = () => scroller(page).evaluate((one) => one.scrollTop);
      await scrollTo(page, 1800, "Row 055");
      await page.getByRole("checkbox", { name: "Select Row 055" }).click();
      await page.getByRole("button", { name: "Archive" }).click();
      await page.getByText("Row 055 archived.").waitFor();
      assert.equal(await scroll(), 1800);
      await page.keyboard.press("g");
      await page.keyboard.press("o");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.goBack();
      await list(page).getByText("Row 055").waitFor();
      assert.equal(await scroll(), 1800);
      await page.getByLabel("Search tags").fill("row-00");
      await list(page).getByText("Row 000").waitFor();
      assert.equal(await scroll(), 0);
    },
    "lets new taps wait while somebody reads, and shows them on demand": async (page, { api, tags }) => {
      await page.show("interactions");
      const rows = list(page, "Interactions");
      await page.keyboard.press("j");
      const read = await rows.locator("a").first().getAttribute("href");
      await api.tap(tags[0].slug);
      await api.tap(tags[1].slug);
      const fresh = page.getByRole("button", { name: "2 new" });
      await fresh.waitFor();
      assert.equal(await rows.locator("a").first().getAttribute("href"), read);
      await fresh.click();
      await fresh.waitFor({ state: "hidden" });
      await page.waitForFunction((one) => document.querySelector("[role=grid] a").getAttribute("href") !== one, read);
    },
    "takes its search by the same key, wherever it has one": async (page) => {
      for (const [place, name] of [
        ["tags", "Search tags"],
        ["inlays", "UID of an inlay"],
        ["submissions", "Search submissions"],
        ["settings/audit", "Object"],
      ]) {
        await page.show(place);
        const search = page.getByLabel(name, { exact: true });
        await page.keyboard.press("/");
        await page.keyboard.type("one");
        await page.evaluate(() => document.activeElement.blur());
        // What is typed next replaces it.
        await page.keyboard.press("/");
        await page.keyboard.type("two");
        assert.equal(await search.inputValue(), "two", place);
      }
    },
    "is the same on every screen": async (page, { api }) => {
      await api.post("/sheets", { name: "Delivery", planned: 5, expected: {} });
      const derivation = { scheme: "an10922", input: "{uid}", diversify_meta: true };
      await api.post("/master-keys", { name: "Roll", key: "0123456789ABCDEF".repeat(2), derivation });
      for (const [place, name] of [
        ["interactions", "Interactions"],
        ["sheets", "Test sheets"],
        ["simulator", "Virtual inlays"],
        ["settings/tokens", "Tokens"],
        ["settings/keys", "Master keys"],
        ["settings/connections", "Connections"],
      ]) {
        await page.show(place);
        await page.getByRole("grid").getByRole("row").first().waitFor();
        await page.keyboard.press("j");
        await page.waitForFunction((label) => document.activeElement.closest(`[role=grid][aria-label="${label}"]`) !== null, name);
        assert.ok((await active(page)).length > 0, place);
      }
    },
    "of a few experiences is one of cards, with the same keys": async (page, { api }) => {
      await page.show("experiences");
      const cards = page.getByRole("list", { name: "Experiences" });
      await cards.getByText("Lost and found").waitFor();
      const names = await cards.locator("strong:not([aria-hidden] *)").allTextContents();
      assert.equal(names.length, (await api.get("/experiences")).items.length);
      await page.keyboard.press("j");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: names[1], exact: true }).waitFor();
    },
  },
});
