import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { group } from "./suite.mjs";

const bench = async (page) => {
  await page.show("simulator");
  await page.getByText("demo-bottle").click();
  await page.getByRole("button", { name: "Tap", exact: true }).waitFor();
};

const tap = async (page) => {
  await bench(page);
  await page.getByRole("button", { name: "Tap", exact: true }).click();
  await page.getByLabel("The last tap").getByText("valid for").waitFor();
};

/** Runs an attack; returns the text of the last step. */
const attack = async (page, name, steps) => {
  await page.reload();
  await page.getByRole("button", { name, exact: true }).click();
  const last = page.locator("section", { has: page.getByRole("heading", { name: "This run" }) }).locator("li");
  await page.waitForFunction((steps) => document.querySelectorAll("section pre[aria-label='Result']").length === steps, steps);
  return last.first().innerText();
};

group("The simulator", {
  states: {
    list: (page) => page.show("simulator"),
    bench,
    "a tap": tap,
    "the new virtual inlay": async (page) => {
      await page.show("simulator");
      await page.getByRole("button", { name: "New virtual inlay" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "plays a tap through to the owner's page, which updates a variable": async (page, { api }) => {
      await tap(page);
      await page.getByRole("button", { name: "Read the payload" }).click();
      await page.getByText('"tag_verified": true').waitFor();
      await page.getByLabel("New value").fill("by hand");
      await page.getByRole("button", { name: "Register" }).click();
      await page.getByText("200: User Data updated").waitFor();
      const last = page.getByLabel("The last tap");
      await last.getByText("consumed by an update").waitFor();
      // Each request has its time: measured here, and the service knows when it came.
      const time = (name) =>
        last
          .getByRole("listitem")
          .filter({ has: page.getByText(name, { exact: true }) })
          .locator(".time")
          .innerText();
      assert.match(await time("Redirect"), /^took [\d.]+ m?s$/);
      for (const name of ["Payload", "Update"]) assert.match(await time(name), /^after [\d.]+ m?s, took [\d.]+ m?s$/);
      const { items } = await api.get("/tags?simulated=true&q=demo-bottle");
      assert.equal(items[0].variables.registered, "by hand");
    },
    "shows the URL of its tap as it was sent in the inspector, and of no other tap": async (page, { api }) => {
      await tap(page);
      const [newest] = (await api.get("/interactions?limit=1&simulated=true")).items;
      const [other] = (await api.get("/interactions?limit=1")).items;
      const go = async (id) => {
        await page.evaluate((to) => (location.hash = `#/interactions/${to}?simulated=true`), id);
        await page.getByRole("heading", { name: `Interaction ${id.toLocaleString("en")}` }).waitFor();
        return page.getByRole("region", { name: "URL" });
      };
      const whole = (await (await go(newest.id)).locator("code").first().textContent()) ?? "";
      assert.ok(whole.includes(`/t/${newest.slug}?uid=`), whole);
      assert.match(whole, /&token=[0-9A-Fa-f]{10,}$/);
      await page
        .getByRole("listitem")
        .filter({ hasText: "Redirect" })
        .getByText(/^took /)
        .waitFor();
      await (await go(other.id)).getByText("is not stored").waitFor();
      assert.equal(await page.getByText(/^took |, took /).count(), 0);
    },
    "tries nine attacks, and none succeeds": async (page) => {
      await bench(page);
      for (const [name, steps, came] of [
        ["Replay", 2, /not verified[^]*replayed/],
        ["Out of order", 1, /not verified[^]*out of order/],
        ["Altered token", 1, /not verified[^]*wrong MAC/],
        ["Another tag's code", 1, /not verified[^]*unknown inlay/],
        ["Expired key", 3, /400: Invalid rolling key/],
        ["Double update", 3, /400: Invalid rolling key/],
        ["Unknown variable", 2, /400: Invalid rolling key/],
        ["Raw key", 2, /400: Invalid rolling key/],
        ["Link preview", 1, /\bverified[^]*recorded nothing/],
      ]) {
        assert.match(await attack(page, name, steps), came, name);
      }
    },
    "moves its own time, not that of real tags": async (page, { api }) => {
      await tap(page);
      const { offset_ms } = await api.get("/simulator/clock");
      await page.getByRole("button", { name: "+5 min" }).click();
      await page.getByLabel("The last tap").getByText("expired").waitFor();
      assert.equal((await api.get("/simulator/clock")).offset_ms, offset_ms + 300_000);
    },
    "saves a run as a scenario and plays it again": async (page) => {
      await bench(page);
      await page.getByRole("button", { name: "Replay", exact: true }).click();
      await page.getByText("replayed").first().waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save run…" }).click();
      const path = await (await saved).path();
      assert.deepEqual(JSON.parse(await readFile(path, "utf8")), { tapdesk_scenario: 1, steps: [{ do: "tap" }, { do: "replay" }] });
      await page.reload();
      await page.locator("input[type=file]").setInputFiles(path);
      await page.getByText("Played 2 of 2 steps.").waitFor();
      await page.locator("input[type=file]").setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from("{}") });
      await page.getByRole("alert").getByText("not a scenario").waitFor();
    },
    "makes a twin of a real tag": async (page, { api, tags }) => {
      await page.show("simulator");
      await page.getByRole("button", { name: "New virtual inlay" }).click();
      await page.getByRole("combobox", { name: "Twin of" }).fill(tags[5].name);
      await page.getByRole("option", { name: new RegExp(tags[5].slug) }).click();
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { name: tags[5].name }).waitFor();
      const { items } = await api.get(`/tags?simulated=true&q=${encodeURIComponent(tags[5].name)}`);
      assert.deepEqual(items[0].attributes, tags[5].attributes);
    },
  },
});
