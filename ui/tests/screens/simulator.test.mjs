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
      // The key is good for once: Enter does not use it up.
      await page.getByLabel("New value").press("Enter");
      await page.getByLabel("Tag variable").press("Enter");
      assert.notEqual((await api.get("/tags?simulated=true&q=demo-bottle")).items[0].variables.registered, "by hand");
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
        await page.evaluate((to) => (location.hash = `#/interactions/${to}`), id);
        await page.getByRole("heading", { name: `Interaction ${id.toLocaleString("en")}` }).waitFor();
        return page.getByRole("region", { name: "URL", exact: true });
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
    "shows the URL of a redirect with every macro filled, and a page of the studio with its form": async (page, { api, tags }) => {
      const shown = async (experience) => {
        const { id } = await api.post("/experiences", experience);
        const tag = { name: `Leads to ${experience.name}`, experience_id: id, attributes: { sku: "B 1041" } };
        const inlay = await api.post("/simulator/inlays", { tag });
        await page.show(`simulator/${inlay.id}`);
        await page.getByRole("button", { name: "Tap", exact: true }).click();
        return page.getByLabel("The last tap").waitFor();
      };
      await shown({ name: "a shop", kind: "redirect", target_url: "https://shop.example.com/?sn={{ tag:attribute:sku }}" });
      const destination = page.getByRole("region", { name: "Destination URL" });
      const url = await destination.locator("pre").innerText();
      assert.match(url, /^https:\/\/shop\.example\.com\/\?sn=B(%20|\+)1041&rk=/);
      assert.doesNotMatch(url, /\{\{|ROLLING_KEY/);
      await page.getByRole("button", { name: "Read the payload" }).waitFor();
      const fields = [{ label: "Your name", kind: "text", variable: "owner" }];
      const blocks = [
        { type: "heading", text: "Register {{ tag:name }}" },
        { type: "form", fields, submit_label: "Send it" },
      ];
      await shown({ name: "a page", kind: "studio", blocks });
      const phone = page.getByRole("group", { name: "The page on a phone" });
      await phone.getByText("Register Leads to a page").waitFor();
      await phone.getByText("Send it").waitFor();
      assert.equal(await page.getByRole("button", { name: "Read the payload" }).count(), 0);
      // The inspector shows the same; of a tap that was not made here, without its key.
      await page.getByRole("link", { name: "Inspect" }).first().click();
      await phone.getByText("Send it").waitFor();
      await api.tap(tags[1].slug);
      await page.show(`interactions/${(await api.get(`/interactions?tag_id=${tags[1].id}&limit=1`)).items[0].id}`);
      assert.match(await destination.locator("pre").innerText(), /^https:/);
      await destination.getByText("it is not stored").waitFor();
    },
    "tries nine attacks, and none succeeds": async (page) => {
      await bench(page);
      for (const [name, steps, came] of [
        ["Replay", 2, /not verified[^]*replayed/],
        ["Out of order", 1, /not verified[^]*out of order/],
        ["Altered code", 1, /not verified[^]*wrong code/],
        ["Another tag's code", 1, /not verified[^]*unknown inlay/],
        ["Expired key", 3, /400: Invalid rolling key/],
        ["Double update", 3, /400: Invalid rolling key/],
        ["Unknown variable", 2, /400: Invalid rolling key/],
        ["Raw key", 2, /400: Invalid rolling key/],
        ["Link preview", 1, /\bverified[^]*recorded nothing/],
      ]) {
        assert.match(await attack(page, name, steps), came, name);
        await page.getByText(`${name}: as expected`).waitFor();
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
