import assert from "node:assert/strict";
import { group } from "./suite.mjs";

const DAY = 86_400_000;
const button = (page, name) => page.getByRole("button", { name, exact: true });
const picker = (page) => page.getByRole("dialog", { name: "Dates" });
const open = async (page, place) => {
  await page.show(place);
  await page.getByRole("button", { name: /^Dates/ }).click();
  await picker(page).getByRole("button", { name: "Today", exact: true }).waitFor();
};
/** The query of the next request of a list. */
const asked = async (page, path, act) => {
  const [request] = await Promise.all([page.waitForRequest((one) => new URL(one.url()).pathname.endsWith(`/admin/v1/${path}`)), act()]);
  return new URL(request.url()).searchParams;
};

group("Dates", {
  states: {
    "the picker": (page) => open(page, "interactions"),
    "a range in the picker": async (page) => {
      await page.show("submissions?dates=2026-01-29..2026-02-09");
      await page.getByRole("button", { name: /^Dates: 29 Jan/ }).click();
      await picker(page).getByRole("grid", { name: "February 2026" }).waitFor();
    },
    "a preset": (page) => page.show("settings/audit?dates=last-month"),
    "of the overview": async (page) => {
      await open(page, "overview?dates=month");
    },
  },
  stories: {
    "are chosen with the keyboard, as a preset and as two days, and are in the address": async (page) => {
      await page.show("interactions");
      await page.keyboard.press("d");
      await picker(page).waitFor();
      await page.waitForFunction(() => document.activeElement?.textContent.trim() === "Today");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await button(page, "Dates: Last 7 days").waitFor();
      assert.match(page.url(), /dates=7d/);
      // The list has the keys again.
      await page.waitForFunction(() => document.activeElement?.localName === "h1");
      await page.keyboard.press("d");
      await picker(page).getByLabel("From").fill("yesterday");
      await page.keyboard.press("Tab");
      await picker(page).getByRole("alert").getByText("Enter a day as 3 Feb 2026").waitFor();
      await picker(page).getByLabel("From").fill("3.2.2026");
      await page.keyboard.press("Tab");
      await page.keyboard.type("9 Feb 2026");
      await picker(page).getByRole("button", { name: "Show 7 days" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: /^Dates: 3\s?–\s?9 Feb 2026$/ }).waitFor();
      assert.match(page.url(), /dates=2026-02-03\.\.2026-02-09/);
      await page.getByText("No tap matches").waitFor();
      await button(page, "Remove filter Dates").click();
      await page.getByRole("grid", { name: "Interactions" }).waitFor();
      assert.doesNotMatch(page.url(), /dates/);
    },
    "are two days of the calendar, in whichever order": async (page, { now }) => {
      await open(page, "interactions");
      const day = (ago) => new Date(now.getTime() - ago * DAY);
      const cell = (ago) =>
        picker(page).locator(`[data-bits-day][data-value="${day(ago).toISOString().slice(0, 10)}"]:not([data-outside-month])`);
      await cell(0).click();
      await cell(2).click();
      await picker(page).getByRole("button", { name: "Show 3 days" }).click();
      await page.getByRole("grid", { name: "Interactions" }).waitFor();
      const { searchParams } = new URL(page.url().replace("#/", ""));
      assert.equal(searchParams.get("dates"), `${day(2).toISOString().slice(0, 10)}..${day(0).toISOString().slice(0, 10)}`);
    },
    "are the viewer's days": async (page) => {
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setTimezoneOverride", { timezoneId: "America/New_York" });
      const query = await asked(page, "interactions", () => page.show("interactions?dates=2026-03-08..2026-03-08"));
      // The clocks went forward on that day.
      assert.equal(query.get("since"), "2026-03-08T05:00:00.000Z");
      assert.equal(query.get("until"), "2026-03-09T04:00:00.000Z");
    },
    "narrow each list, and its export": async (page) => {
      const fromMenu = async (name) => {
        await button(page, name).click();
        await page.getByRole("menuitem", { name: "CSV…" }).click();
      };
      for (const [place, path, save] of [
        ["interactions", "interactions", () => fromMenu("Export interactions")],
        ["submissions", "submissions", () => fromMenu("Export submissions")],
        ["settings/audit", "audit", () => button(page, "Export…").click()],
      ]) {
        const listed = await asked(page, path, () => page.show(`${place}?dates=yesterday`));
        assert.equal(Date.parse(listed.get("until")) - Date.parse(listed.get("since")), DAY, place);
        const saved = await asked(page, `${path}/export`, save);
        assert.equal(saved.get("since"), listed.get("since"), place);
        assert.equal(saved.get("until"), listed.get("until"), place);
      }
    },
    "of the overview are compared with the days before": async (page, { api, now }) => {
      await page.show("overview");
      await button(page, "Dates").click();
      await picker(page).getByRole("button", { name: "Yesterday", exact: true }).click();
      await button(page, "Dates: Yesterday").waitFor();
      const midnight = Math.floor(now.getTime() / DAY) * DAY;
      const totals = async (from, to) => {
        const at = (milliseconds) => new Date(milliseconds).toISOString();
        const found = await api.get(`/stats?since=${at(from)}&until=${at(to)}&step=hour&simulated=false`);
        return Object.values(found.totals).reduce((sum, one) => sum + one, 0);
      };
      const expected = (await totals(midnight - DAY, midnight)).toLocaleString("en");
      await page.waitForFunction((taps) => document.querySelector(".numbers .number")?.textContent === taps, expected);
      assert.equal(await page.locator(".axis .now").count(), 0);
      await page.getByRole("button", { name: "30 days" }).click();
      await page.locator(".axis .now").waitFor();
      await button(page, "Dates").waitFor();
      assert.match(page.url(), /dates=30d/);
    },
  },
});
