import assert from "node:assert/strict";
import { choose } from "./browser.mjs";
import { group } from "./suite.mjs";

group("The overview", {
  states: {
    "a day": (page) => page.show("overview"),
    "a month": async (page) => {
      await page.show("overview");
      await page.getByRole("button", { name: "30 days" }).click();
      await page.getByText("Taps per day").waitFor();
    },
    "the hours of the week": async (page) => {
      await page.show("overview");
      await page.getByRole("combobox", { name: "By", exact: true }).selectOption("hours");
      await page.getByText("Taps by hour of the week").waitFor();
    },
  },
  stories: {
    "an hour without taps is an empty cell, not a zero, and the busiest one is named": async (page) => {
      await page.show("overview");
      await page.getByRole("combobox", { name: "By", exact: true }).selectOption("hours");
      const table = page.getByRole("table", { name: /Taps by hour of the week/ });
      await table.getByText(/^\w+day, \d\d:00 to \d\d:00$/).waitFor();
      const shown = await table
        .locator("tbody td span:not(:has(span))")
        .evaluateAll((cells) => cells.map((cell) => [cell.textContent, cell.getBoundingClientRect().width > 2]));
      assert.equal(shown.length, 7 * 24);
      assert.deepEqual(
        shown.filter(([text, visible]) => (text === "0") === visible),
        [],
      );
    },
    "begins with what needs attention, in no more than 1,040 pixels, and ends with the demo data": async (page) => {
      await page.setViewportSize({ width: 1920, height: 1080 });
      await page.show("overview");
      await page.getByText("Most tapped").waitFor();
      await page.getByRole("button", { name: "Remove demo data" }).waitFor();
      const tops = await page.evaluate(() =>
        ["Needs attention", "Most tapped", "demo tags, simulated"].map(
          (words) =>
            [...document.querySelectorAll(".overview *")]
              .find((one) => one.textContent.includes(words) && one.children.length === 0)
              ?.getBoundingClientRect().top,
        ),
      );
      assert.deepEqual(
        tops,
        tops.toSorted((one, other) => one - other),
      );
      const widest = await page.evaluate(() =>
        Math.max(...[...document.querySelectorAll(".overview > *")].map((one) => one.getBoundingClientRect().width)),
      );
      assert.ok(widest <= 1040, String(widest));
    },
    "says the numbers of a bar beside the pointer, and round numbers at its axis": async (page) => {
      await page.show("overview");
      const bars = page.locator(".bars");
      const { width } = await bars.boundingBox();
      await bars.hover({ position: { x: width * 0.55, y: 40 } });
      await page
        .locator(".bars .card")
        .getByText(/\d+ verified/)
        .first()
        .waitFor();
      await page.mouse.move(4, 4);
      await page.locator(".bars .card").waitFor({ state: "detached" });
      assert.equal(await page.locator(".tick").first().textContent(), "0");
    },
    "a month has bars of days or of weeks, as the address says, and says its visitors": async (page) => {
      await page.show("overview");
      assert.equal(await page.getByRole("combobox", { name: "Bars" }).count(), 0);
      await page.getByRole("button", { name: "30 days" }).click();
      await page.getByText("Taps per day").waitFor();
      const bars = () => page.locator(".bars").getAttribute("aria-valuemax");
      assert.equal(await bars(), "29");
      await page.getByRole("combobox", { name: "Bars" }).selectOption("week");
      await page.getByText("Taps per week").waitFor();
      assert.match(page.url(), /per=week/);
      assert.ok(["4", "5"].includes(await bars()), await bars());
      await page
        .getByRole("region", { name: "Breakdown" })
        .getByText(/taps by [\d,]+ visitors?:/)
        .waitFor();
    },
    "the report is exported with a row for each bar, as a spreadsheet or as CSV": async (page) => {
      await page.show("overview?dates=30d&per=week");
      await page.getByText("Taps per week").waitFor();
      for (const [entry, format] of [
        ["Spreadsheet (.xlsx)…", "xlsx"],
        ["CSV…", "csv"],
      ]) {
        const [request, download] = await Promise.all([
          page.waitForRequest((one) => one.url().includes("/reports/export?")),
          page.waitForEvent("download"),
          choose(page, "Export report", entry),
        ]);
        const query = new URL(request.url()).searchParams;
        assert.deepEqual([query.get("step"), query.get("format")], ["week", format]);
        assert.equal(download.suggestedFilename(), `report.${format}`);
      }
      await page.getByText("Report exported in whole weeks.").first().waitFor();
    },
    "the breakdown has the report's counts, of all experiences and of one": async (page, { api }) => {
      await page.show("overview");
      const region = page.getByRole("region", { name: "Breakdown" });
      for (const view of ["experiences", "tags", "verdicts", "technologies", "countries", "systems", "languages"]) {
        await region.getByRole("combobox", { name: "By", exact: true }).selectOption(view);
        const since = new Date(Date.now() - 86_400_000).toISOString();
        const report = await api.get(`/reports?since=${since}`);
        const expected = report[view].map(({ taps }) => taps.toLocaleString("en"));
        await page.waitForFunction(
          (expected) =>
            JSON.stringify(
              [...document.querySelectorAll("section[aria-labelledby=breakdown] tbody tr td:nth-child(2)")].map((one) => one.textContent),
            ) === JSON.stringify(expected),
          expected,
        );
      }
      const { experiences } = await api.get("/reports");
      const one = experiences.find(({ experience_id: id }) => id !== null);
      await region.getByRole("combobox", { name: "of", exact: true }).selectOption(one.name);
      await region.getByRole("combobox", { name: "By", exact: true }).selectOption("experiences");
      await page.waitForFunction(() => document.querySelectorAll("section[aria-labelledby=breakdown] tbody tr").length === 1);
    },
    "the first steps are checked off by what happened, and dismissed for good": async (page) => {
      await page.show("overview");
      const steps = page.getByRole("region", { name: "First steps" });
      await steps.getByText("3 of 6").waitFor();
      await steps.getByRole("link", { name: "Connect an NFC reader" }).waitFor();
      assert.equal(await steps.getByRole("link", { name: /Create an experience/ }).count(), 0);
      // The address has a card of its own, as long as it is not proved.
      await steps.getByRole("region", { name: "Where phones reach you" }).waitFor();
      await steps.getByRole("button", { name: "Dismiss the first steps" }).click();
      await page.show("overview");
      await page.getByText("Most tapped").waitFor();
      assert.equal(await steps.count(), 0);
    },
    "the first product is one of the first steps": async (page, { api }) => {
      await page.show("overview");
      const steps = page.getByRole("region", { name: "First steps" });
      await steps.getByRole("link", { name: /Create a product/ }).click();
      const dialog = page.getByRole("dialog", { name: "New product" });
      await dialog.getByLabel("Name").fill("Grand Cru 2021");
      await dialog.getByLabel("Experience").selectOption("Register product");
      await dialog.getByRole("button", { name: "Create product" }).click();
      await page.getByRole("treeitem", { name: /Grand Cru 2021/ }).waitFor();
      const [product] = (await api.get("/groups")).items;
      assert.ok(product.experience_id > 0);
      await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Overview" }).click();
      await steps.getByText("4 of 6").waitFor();
      assert.equal(await steps.getByRole("link", { name: /Create a product/ }).count(), 0);
      await api.remove(`/groups/${product.id}`);
    },
    "each problem that needs attention has a link to its list": async (page) => {
      await page.show("overview");
      await page.getByRole("link", { name: /\d+ replays/ }).click();
      await page.locator(".reason", { hasText: "replayed" }).first().waitFor();
      await page.goBack();
      await page.getByRole("link", { name: /counter gap/ }).click();
      await page.getByText("2 missed").waitFor();
      assert.equal(await page.locator("[data-row]").count(), 1);
      await page.goBack();
      await page.getByRole("link", { name: /not set up/ }).click();
      await page.locator(".experience", { hasText: "not set up" }).first().waitFor();
    },
    "inlays with factory keys and exhausted ones have a link to just these": async (page, { api }) => {
      const key = "00000000000000000000000000000000";
      const chip = { technology: "ntag424dna", mirror: "plain" };
      const factory = await api.post("/inlays", { ...chip, uid: "04FAC700000001", file_key: key, allow_factory_keys: true });
      const ended = await api.post("/inlays", {
        ...chip,
        uid: "04E7DED0000001",
        file_key: key.replaceAll("0", "5"),
        last_counter: 0xffffff,
      });
      for (const [link, inlay] of [
        [/inlays? with factory keys/, factory],
        [/exhausted inlay/, ended],
      ]) {
        await page.show("overview");
        await page.getByRole("link", { name: link }).click();
        await page.getByRole("grid", { name: "Inlays" }).getByText(inlay.uid).waitFor();
        assert.equal(await page.locator("[data-row]").count(), 1);
        await api.remove(`/inlays/${inlay.id}`);
      }
    },
    "the keyboard reads each bar of the chart, and screen readers get its numbers": async (page) => {
      await page.show("overview");
      const chart = page.getByRole("slider", { name: /Taps over time/ });
      const [last, words] = [await chart.getAttribute("aria-valuenow"), () => chart.getAttribute("aria-valuetext")];
      assert.match(await words(), /: \d+ verified, \d+ not verified, \d+ not checked$/);
      await chart.focus();
      await page.keyboard.press("ArrowLeft");
      assert.equal(Number(await chart.getAttribute("aria-valuenow")), Number(last) - 1);
      const shown = page.locator(".bars .card");
      const spoken = (await words()).split(": ")[0];
      assert.equal(await shown.locator("strong").textContent(), spoken);
      await page.keyboard.press("Home");
      assert.equal(await chart.getAttribute("aria-valuenow"), "0");
      await page.keyboard.press("ArrowLeft");
      assert.equal(await chart.getAttribute("aria-valuenow"), "0");
      await page.keyboard.press("Escape");
      await shown.waitFor({ state: "detached" });
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
