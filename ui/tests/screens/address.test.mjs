// Where phones reach the service: the address that chips and codes carry is proved first.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { asksAgain } from "./browser.mjs";
import { readerHost } from "./host.mjs";
import { Inlay } from "./inlay.mjs";
import { group } from "./suite.mjs";
import { client } from "./world.mjs";

const button = (place, name) => place.getByRole("button", { name, exact: true });
const card = (place) => place.getByRole("region", { name: "Where phones reach you" });

/** The address by which others on this computer's network reach it. */
const lan = Object.values(networkInterfaces())
  .flat()
  .find((one) => one.family === "IPv4" && !one.internal)?.address;

async function settings(page) {
  await page.show("settings/service");
  await card(page).getByText("Every chip and every printed code").waitFor();
}

/** Types a domain into the card, and checks it. */
async function check(page, typed) {
  await card(page).getByLabel("Domain", { exact: true }).fill(typed);
  await button(card(page), "Check").click();
}

/** A server that is not this service; its address. */
async function stranger() {
  const server = createServer((_, answer) => answer.end("The shop's home page"));
  await new Promise((listening) => server.listen(0, lan, listening));
  return { server, at: `${lan}:${server.address().port}` };
}

group("The address of chips", {
  states: {
    "an address that only this computer opens": async (page) => {
      await asksAgain(page);
      await settings(page);
      await card(page).getByText("Not proved yet").or(card(page).getByText("Only this computer can open it")).waitFor();
    },
    "a domain that has no address": async (page) => {
      await settings(page);
      await check(page, "nowhere.invalid");
      await card(page).getByText("The host name has no address").waitFor();
    },
    "a question in the dialog of a run": async (page) => {
      await asksAgain(page);
      await page.show("encode?new=run");
      await card(page.getByRole("dialog")).getByText("Only this computer can open it").waitFor();
    },
  },
  stories: {
    "a domain is completed as it is typed, and a failed check names the reason and the way out": async (page, { api }) => {
      const before = (await api.get("/settings")).tag_url.value;
      await settings(page);
      await card(page).getByLabel("Domain", { exact: true }).fill("nowhere.invalid");
      await card(page).getByText("Chips will carry https://nowhere.invalid/t").waitFor();
      await button(card(page), "Check").click();
      await card(page).getByText("The host name has no address").waitFor();
      await card(page)
        .getByText(/provider/)
        .waitFor();
      // What is no address is refused in words.
      await check(page, "my shop");
      await card(page)
        .getByRole("alert")
        .getByText(/no address/)
        .waitFor();
      assert.equal((await api.get("/settings")).tag_url.value, before);
      if (lan === undefined) return;
      await check(page, `http://${lan}:9/t`);
      await card(page).getByText("Connection refused").waitFor();
      const { server, at } = await stranger();
      try {
        await check(page, at);
        await card(page).getByText("Another server answers there").waitFor();
        // It is possible to save it, for a domain that comes later.
        await button(card(page), "Save without proof").click();
        await page.getByText(`Chips and codes now carry http://${at}/t.`).waitFor();
        assert.equal((await api.get("/settings")).tag_url.value, `http://${at}/t`);
        await button(page, "Undo").click();
        await card(page).getByText(before).first().waitFor();
      } finally {
        server.close();
      }
    },
    "a run asks once about an address that only this computer opens": async (page) => {
      await asksAgain(page);
      await page.show("encode?new=run");
      const dialog = page.getByRole("dialog");
      const create = dialog.getByRole("button", { name: /^Create run/ });
      await card(dialog).getByText("Only this computer can open it").waitFor();
      assert.ok(await create.isDisabled());
      await button(card(dialog), "For trying on this computer").click();
      await card(dialog).waitFor({ state: "detached" });
      const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/encoding-runs"));
      await create.click();
      assert.equal((await sent).postDataJSON().allow_unproved_address, true);
      await page.getByRole("heading", { name: "How a run works" }).or(page.getByText("Place inlay 1")).first().waitFor();
      assert.equal(await card(page).count(), 0);
    },
    "goods-in of chips with the address of a URL template asks nothing about the own one": async (page, { api, ui }) => {
      await asksAgain(page);
      const encode = {
        ...{ reader: "ACS ACR1252 1S CL Reader", insertion: 1, id: 1, state: "rejected", reason: "foreign_key" },
        ...{ result: null, step: { at: 1, of: 33 }, doing: null, log: [] },
      };
      const desk = await readerHost(page, ui, { encode });
      const template = "https://bureau.example/v/{slug}?p={picc}&m={mac}";
      const made = await api.post("/url-templates", { name: "Of the bureau", technology: "ntag424dna", template });
      const tag = await api.post("/tags", { name: "Of the bureau" });
      const plan = { url_template_id: made.id };
      const { id } = await api.post("/factory-orders", { name: "Other domain", tag_ids: [tag.id], plan });
      await api.csv(`/factory-orders/${id}/import`, "position,uid\n1,04DE5F1EACDE01\n");
      await page.show(`encode/order-${id}`);
      await page.getByText("Place a chip on the reader: 1 to go.").waitFor();
      await desk.place("04DE5F1EACDE01", null);
      await page.waitForFunction(() => globalThis.host.encoded.length === 1);
      assert.equal((await page.evaluate(() => globalThis.host.encoded))[0].factory_order_id, id);
    },
    "a printed code asks about the address, and is saved once that is answered": async (page, { tags }) => {
      await asksAgain(page);
      await page.show(`tags/${tags[0].id}?part=inlay`);
      await button(page, "Save SVG…").click();
      const asked = page.getByRole("dialog", { name: "Use an address that is not proved?" });
      await asked.waitFor();
      await button(asked, "Cancel").click();
      await asked.waitFor({ state: "detached" });
      await button(page, "Save SVG…").click();
      await button(asked, "For trying on this computer").click();
      await asked.waitFor({ state: "detached" });
    },
  },
});

if (lan !== undefined) {
  /** A desktop with a reader whose encodings the service begins, and which end with keys that the test knows. */
  async function desk(page, ui) {
    const api = client(ui);
    const key = "0123456789ABCDEF0123456789ABCDEF";
    const inlays = [];
    await page.exposeFunction("encodeInstead", async (target) => {
      const uid = `04DE5F1EACC0${(inlays.length + 16).toString(16).toUpperCase()}`;
      const told = { reader: "ACS ACR1252 1S CL Reader", insertion: inlays.length + 1, step: { at: 33, of: 33 }, doing: null, log: [] };
      const answer = await fetch(`${ui.service}/admin/v1/encodings`, {
        method: "POST",
        headers: { authorization: `Bearer ${ui.token}`, "content-type": "application/json" },
        body: JSON.stringify({ ...target, uid }),
      });
      const begun = await answer.json();
      if (!answer.ok) return { ...told, id: null, state: "planned", reason: null, refusal: begun.detail, result: null };
      const { tag_id } = await api.get(`/encodings/${begun.id}`);
      await api.remove(`/encodings/${begun.id}`);
      await api.post("/inlays", { uid, technology: "ntag424dna", tag_id, mirror: "plain", file_key: key });
      const { slug } = await api.get(`/tags/${tag_id}`);
      inlays.push({ slug, inlay: new Inlay(uid, key) });
      const tag_url = (await api.get("/settings")).tag_url.value;
      const url = `${tag_url}/${slug}${inlays.at(-1).inlay.read()}`;
      return { ...told, id: begun.id, state: "verified", reason: null, refusal: null, result: { tag_id, slug, url, counter: 1 } };
    });
    const port = new URL(ui.service).port;
    const reader = await readerHost(page, ui, {}, null, { phones: false, lan: [`http://${lan}:${port}`] });
    return { reader, inlays, at: `http://${lan}:${port}/t` };
  }

  /** Counts the clicks of a way through the screens. */
  function counting() {
    let clicks = 0;
    return {
      count: () => clicks,
      click: async (target) => {
        await target.click();
        clicks++;
      },
    };
  }

  group("The first hour", {
    empty: true,
    listen: "0.0.0.0:0",
    stories: {
      "from an empty database to a verified tap of a chip on a proved address in at most 20 clicks": async (page, { ui }) => {
        await asksAgain(page);
        const { reader, inlays, at } = await desk(page, ui);
        const { click, count } = counting();
        await page.show("overview");
        const steps = page.getByRole("region", { name: "First steps" });
        await click(button(card(steps), "Use this network"));
        await card(steps).waitFor({ state: "detached" });

        await click(steps.getByRole("link", { name: "Create experience" }));
        const dialog = page.getByRole("dialog");
        await click(dialog.getByLabel("Name", { exact: true }));
        await page.keyboard.type("Desk lamp");
        await click(dialog.getByLabel("Destination URL"));
        await page.keyboard.type("https://shop.example.com/lamp");
        await click(button(dialog, "Create"));
        await page.getByRole("heading", { name: "Desk lamp" }).first().waitFor();

        await click(page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Overview" }));
        await click(steps.getByRole("link", { name: "Create run", exact: true }));
        await dialog.getByLabel("Experience").waitFor();
        await page.waitForFunction(() => document.querySelector("[role=dialog] [placeholder='Desk lamp {n:04}']") !== null);
        await click(dialog.getByRole("button", { name: /^Create run/ }));
        await page.getByText("Place inlay 1 of 50 on the reader.").waitFor();
        await reader.place("04DE5F1EACC010", null);
        await page.getByText("Encoded", { exact: true }).first().waitFor();
        assert.equal(await card(page).count(), 0, "it asks about an address that is proved");

        // The phone, by the address that the chip carries.
        const { slug, inlay } = inlays[0];
        const tap = await fetch(`${at}/${slug}${inlay.read()}`, { redirect: "manual" });
        assert.equal(new URL(tap.headers.get("location")).host, "shop.example.com");
        await click(page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Interactions" }));
        await page.getByRole("grid", { name: "Interactions" }).getByText("Desk lamp 0001").first().waitFor();
        assert.equal((await client(ui).get("/interactions?verification=verified")).items.length, 1);
        console.log(`${count()} clicks to the first verified tap`);
        assert.ok(count() <= 20, `${count()} clicks`);
      },
      "another address names what carries the proved one, before it is saved": async (page, { ui }) => {
        const api = client(ui);
        const { at } = await desk(page, ui);
        await api.patch("/settings", { tag_url: at });
        await api.post("/tag-url/check");
        await api.post("/tags", { name: "Carries it", has_qr_code: true });
        await settings(page);
        await card(page).getByText("Proved").first().waitFor();
        await button(card(page), "Change address…").click();
        await card(page).getByLabel("Your domain", { exact: true }).check();
        await card(page).getByLabel("Domain", { exact: true }).fill("tags.example.com");
        await card(page).getByText("1 printed code").waitFor();
        await card(page)
          .getByText(/They work only as long as that address leads to this service/)
          .waitFor();
        assert.equal((await api.get("/settings")).tag_url.value, at);
      },
    },
  });
}
