// Encoding runs and factory orders, as far as they go without a reader.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { settled } from "./browser.mjs";
import { readerHost } from "./host.mjs";
import { group } from "./suite.mjs";

const csv = (text) => ({ name: "tags.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
const button = (page, name) => page.getByRole("button", { name, exact: true });

const newRun = async (page) => {
  await page.show("encode");
  await button(page, "New run").click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Roll of 21 November");
};

const fromFile = async (page, text) => {
  await page.getByRole("dialog").getByLabel("Tags", { exact: true }).selectOption("csv");
  await page.getByLabel("CSV file").setInputFiles(csv(text));
  await page.getByLabel("Import name as").waitFor();
};

/** An order of as many tags; its id. */
async function order(api, names) {
  const tags = [];
  for (const name of names) tags.push((await api.post("/tags", { name })).id);
  return (await api.post("/factory-orders", { name: "Labels for autumn", tag_ids: tags })).id;
}

group("Encode", {
  states: {
    runs: (page) => page.show("encode"),
    "factory orders": (page) => page.show("encode?part=orders"),
    "a run without a reader": async (page, { api }) => {
      const { id } = await api.post("/encoding-runs", { name: "Waiting", plan: { pattern: "Waiting {n}" }, planned: 50 });
      await page.show(`encode/${id}`);
      await page.getByRole("heading", { name: "How a run works" }).waitFor();
    },
    "a run that cannot be shown, until it is loaded again": async (page, { api }) => {
      const { id } = await api.post("/encoding-runs", { name: "Locked", plan: { pattern: "Locked {n}" }, planned: 5 });
      const path = `**/admin/v1/encoding-runs/${id}`;
      await page.route(path, (route) =>
        route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"detail":"The disk is full."}' }),
      );
      await page.show(`encode/${id}`);
      await page.getByRole("alert").getByText("The disk is full.").waitFor();
      await page.unroute(path);
      await button(page, "Load the run again").click();
      await page.getByRole("heading", { name: "Locked" }).waitFor();
    },
    "a run from a file": async (page) => {
      await newRun(page);
      await fromFile(page, "name,slug\nBottle A,encode-a\nBottle B,encode-b\n");
      await page.getByText("Dry run: every step").click();
      await page.getByText("Change key 0").waitFor();
      await settled(page);
    },
    "a new order": async (page) => {
      await page.show("encode?part=orders");
      await button(page, "New order").click();
      await page.getByRole("dialog").waitFor();
    },
    "an order whose chips came back": async (page, { api }) => {
      const id = await order(api, ["Crate 1", "Crate 2", "Crate 3"]);
      const uid = id.toString(16).padStart(2, "0").toUpperCase();
      await api.csv(`/factory-orders/${id}/import`, `position,uid\n1,04DE5F1EAC${uid}01\n2,04DE5F1EAC${uid}02\n`);
      await page.show(`encode/order-${id}`);
      await page.getByRole("cell", { name: "Bureau keys" }).first().waitFor();
    },
    "a report that was checked": async (page) => {
      await button(page, "Import report…").click();
      await page.getByLabel("CSV file").setInputFiles(csv("position,uid,status\n3,04DE5F1EACFFF3,ok\n9,04DE5F1EACFFF9,ok\n"));
      await button(page, "Check").click();
      await page.getByText("1 chip can be bound, 1 row refused.").waitFor();
    },
  },
  stories: {
    "an order whose chips came back asks for no keys any more": async (page, { api }) => {
      const id = await order(api, ["Crate 7", "Crate 8"]);
      await page.show(`encode/order-${id}`);
      await page.getByText("Keys not saved yet").waitFor();
      await api.csv(`/factory-orders/${id}/import`, "position,uid\n1,04DE5F1EACAB01\n");
      await page.show(`encode/order-${id}`);
      await page.getByText("goods-in", { exact: true }).waitFor();
      assert.equal(await page.getByText("Keys not saved yet").count(), 0);
    },
    "an order is found by a chip on the reader, from the list and from another order": async (page, { api, ui }) => {
      const encode = {
        ...{ reader: "ACS ACR1252 1S CL Reader", insertion: 2, id: 1, state: "rejected", reason: "foreign_key" },
        ...{ result: null, step: { at: 1, of: 33 }, doing: null, log: [] },
      };
      const desk = await readerHost(page, ui, { encode });
      const [first, second] = [await order(api, ["Chip 1"]), await order(api, ["Chip 2"])];
      await api.csv(`/factory-orders/${first}/import`, "position,uid\n1,04DE5F1EACDD01\n");
      await api.csv(`/factory-orders/${second}/import`, "position,uid\n1,04DE5F1EACDD02\n");
      await page.show("encode?part=orders");
      await desk.place("04DE5F1EACDD09", null);
      await page.getByText("No report of a bureau contains the chip").waitFor();
      await desk.remove();
      await desk.place("04DE5F1EACDD01", null);
      await page.waitForURL(new RegExp(`encode/order-${first}`));
      const note = page.getByRole("status").filter({ hasText: "belongs to Labels for autumn" });
      await note.waitFor();
      await page.getByRole("button", { name: "Choose another order" }).waitFor();
      // It was placed to find the order: its keys change by a click.
      assert.deepEqual(await page.evaluate(() => globalThis.host.encoded), []);
      await button(page, "Give it own keys").click();
      await page.waitForFunction(() => globalThis.host.encoded.length === 1);
      assert.equal((await page.evaluate(() => globalThis.host.encoded))[0].factory_order_id, first);
      await desk.remove();
      // A chip of another order opens that one instead of failing here.
      await desk.place("04DE5F1EACDD02", null);
      await page.waitForURL(new RegExp(`encode/order-${second}`));
      assert.equal((await page.evaluate(() => globalThis.host.encoded)).length, 1);
    },
    "the instructions of each job are printed on one page, A4 or letter": async (page) => {
      const margin = { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" };
      for (const place of ["encode", "encode?part=orders", "sheets"]) {
        await page.show(place);
        await button(page, "Print instructions…").waitFor();
        for (const format of ["A4", "Letter"]) {
          const pdf = (await page.pdf({ format, margin })).toString("latin1");
          assert.equal(pdf.match(/\/Type \/Page\b/g).length, 1, `${place}, ${format}`);
        }
      }
    },
    "takes the tags of a file in the order of its rows": async (page, { api }) => {
      await newRun(page);
      await fromFile(page, "name,slug\nLamp C,encode-run-c\nLamp A,encode-run-a\nLamp B,encode-run-b\n");
      await button(page.getByRole("dialog"), "Create run").click();
      await page.getByRole("heading", { name: "Roll of 21 November" }).waitFor();
      await page.getByText("Next: Lamp C").waitFor();
      const { items } = await api.get("/encoding-runs?limit=1");
      assert.equal(items[0].tag_count, 3);
    },
    "says what a run waits for, in a line, and how it goes": async (page, { api }) => {
      const { id } = await api.post("/encoding-runs", { name: "Waiting", plan: { pattern: "Waiting {n}" }, planned: 50 });
      await page.show(`encode/${id}`);
      const verdict = page.getByRole("region", { name: "Verdict" });
      await verdict.getByText("No reader is connected.").waitFor();
      assert.ok((await verdict.boundingBox()).height <= 56, "it is as tall as a verdict");
      await page.getByText("It becomes Waiting 1").waitFor();
      // One thing to do next; the rest is in the menu.
      const head = page.locator(".head", { has: page.getByRole("heading", { name: "Waiting", exact: true }) });
      assert.deepEqual(await head.getByRole("button").allInnerTexts(), ["Pause", ""]);
      await head.getByRole("button", { name: "Pause" }).click();
      await head.getByRole("button", { name: "Resume" }).click();
      await head.getByRole("button", { name: "More actions for Waiting" }).click();
      await page.getByRole("menuitem", { name: "Close run" }).click();
      await page.getByText("The run is closed.").waitFor();
      assert.equal(await page.getByText("No reader is connected.").count(), 0);
      await verdict.getByRole("link", { name: "Open reader doctor" }).waitFor({ state: "detached" });
      await button(head, "Reopen").waitFor();
    },
    "rejects no inlay by a single key": async (page, { api }) => {
      const { id } = await api.post("/encoding-runs", { name: "By keys", plan: { pattern: "By keys {n}" } });
      await api.post("/encodings", { uid: "04DE5F1EACE501", run_id: id });
      await page.show(`encode/${id}`);
      await page.getByLabel("Figures").getByText("1 unfinished").waitFor();
      const asked = page.getByRole("dialog", { name: "Reject inlay 04DE5F1EACE501?" });
      await page.keyboard.press("r");
      await asked.waitFor();
      // Enter by itself takes the safe side.
      await page.keyboard.press("Enter");
      await asked.waitFor({ state: "detached" });
      await page.getByLabel("Figures").getByText("1 unfinished").waitFor();
      await page.keyboard.press("r");
      await asked.waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByLabel("Figures").getByText("1 rejected").waitFor();
      assert.equal((await api.get(`/encoding-runs/${id}`)).rows[0].state, "abandoned");
    },
    "imports nothing for a run if a row is invalid": async (page, { api }) => {
      const { count: before } = await api.get("/encoding-runs?count=true&limit=1");
      await newRun(page);
      await fromFile(page, "name,slug\nGood,encode-good\n,encode-bad\n");
      await button(page.getByRole("dialog"), "Create run").click();
      await page.getByText("1 good row left out because of that").waitFor();
      assert.equal((await api.get("/encoding-runs?count=true&limit=1")).count, before);
      assert.equal((await api.get("/tags?q=encode-good&count=true")).count, 0);
    },
    "shows what the service would write": async (page, { api }) => {
      await newRun(page);
      await page.getByText("Dry run: every step").click();
      const { sheet } = await api.post("/encodings/preview");
      await page.getByRole("dialog").getByText(sheet.url).waitFor();
      await page.getByRole("dialog").getByText(sheet.change_file_settings.data).waitFor();
      // Another chip, other steps.
      await page.getByRole("dialog").getByLabel("Chip and URL").selectOption("ntag213");
      await page.getByText("Anyone with a phone can write this chip.").waitFor();
      await page.getByText("Read it as a phone does").waitFor();
      assert.equal(await page.getByText("Change key 0").count(), 0);
    },
    "asks for the labels of a run": async (page, { api }) => {
      const { id } = await api.post("/encoding-runs", { name: "Printed", plan: { pattern: "Printed {n}" } });
      const whole = await api.get(`/encoding-runs/${id}`);
      const made = { technology: "ntag424dna", mode: "aes", generation: 1, counter: 1, at: "2026-01-01T00:00:00Z" };
      const row = (position, state, reason = null) => {
        const of = {
          encoding_id: 10 - position,
          position,
          tag_id: position,
          slug: `printed-${position}`,
          name: `Lamp ${position}`,
          uid: `04DE5F1EACAA0${position}`,
        };
        return { ...of, ...made, state, reason };
      };
      const rows = [row(3, "verified"), row(1, "verified"), row(4, "rejected", "foreign_key"), row(2, "verified")];
      const path = `**/admin/v1/encoding-runs/${id}`;
      await page.route(path, (route) => route.fulfill({ json: { ...whole, rows } }));
      await page.show(`encode/${id}`);
      // The table names them, too.
      await page.getByRole("cell", { name: "Lamp 3", exact: true }).waitFor();
      await page.keyboard.press("l");
      const asked = page.getByRole("dialog", { name: "Print 3 labels" });
      // The service prints the verified chips that it has, and it has none of this run.
      await asked.getByText("No tag is selected, so there is nothing to print.").waitFor();
      assert.equal(await asked.getByLabel("Text", { exact: true }).inputValue(), "{{label:number}} {{tag:name}}");
      assert.ok(await button(asked, "Save labels…").isDisabled());
      await button(asked, "Cancel").click();
      await page.unroute(path);
    },
    "deletes an order whose chips will not come": async (page, { api }) => {
      const id = await order(api, ["Crate 7"]);
      await page.show(`encode/order-${id}`);
      await button(page, "Delete order…").click();
      await button(page.getByRole("dialog"), "Delete order").click();
      await page.getByText("Factory order deleted.").waitFor();
      const { items } = await api.get("/factory-orders");
      assert.ok(items.every((kept) => kept.id !== id));
    },

    "sends an order to a bureau and takes its report": async (page, { api }) => {
      await page.show("encode?part=orders");
      await button(page, "New order").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name", { exact: true }).fill("Posters");
      await page.getByLabel("CSV file").setInputFiles(csv("name,slug\nPoster A,order-a0\nPoster B,order-b0\n"));
      await dialog.getByLabel("Import name as").waitFor();
      await button(dialog, "Create order").click();
      await page.getByRole("heading", { name: "Posters" }).waitFor();
      await page.getByText("not sent", { exact: true }).waitFor();
      await page.getByText("Keys not saved yet").waitFor();
      const saved = page.waitForEvent("download");
      await button(page, "Save files for the bureau").click();
      await page.getByRole("menuitem", { name: "Save order.csv…", exact: true }).click();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /^position,slug,technology,url,ndef_hex/);
      assert.match(text, /\r\n2,order-b0,ntag424dna,/);
      await button(page, "Save keys…").click();
      await dialog.getByLabel("Passphrase", { exact: true }).fill("correct horse battery");
      await dialog.getByLabel("Repeat passphrase").fill("correct horse battery");
      const sealed = page.waitForEvent("download");
      await button(page, "Save keys.sealed…").click();
      assert.ok(JSON.parse(await readFile(await (await sealed).path(), "utf8")).sealed);
      await page.getByText("at the bureau", { exact: true }).waitFor();
      await button(page, "Import report…").click();
      await dialog.getByLabel("File of").selectOption("ixkio");
      await page
        .getByLabel("CSV file")
        .setInputFiles(
          csv("XUID,UID,CUID,TAGNAME,RESPONSE,STATUS\norder-a0,04DE5F1EACEEE1,,,,Active\norder-b0,04DE5F1EACEEE2,,,,Failed\n"),
        );
      // It is kept with its file when it is left.
      await page.keyboard.press("Escape");
      await page.getByText(/, report: your changes are kept, but not saved\.$/).waitFor();
      await page.getByRole("button", { name: "Show", exact: true }).click();
      assert.equal(await dialog.getByLabel("File of").inputValue(), "ixkio");
      await button(page, "Check").click();
      await page.getByText("Without a chip: 2.").waitFor();
      await page.getByText("The bureau says of this chip: Failed.").waitFor();
      assert.equal((await api.get("/inlays?uid=04DE5F1EACEEE1&count=true")).count, 0);
      await button(page, "Import").click();
      await page.getByText("1 chip bound, 1 row refused, 1 position without a chip.").waitFor();
      await button(page, "Done").click();
      await page.getByRole("cell", { name: "Bureau keys" }).waitFor();
      const { items } = await api.get("/inlays?uid=04DE5F1EACEEE1");
      assert.equal(items[0].bureau_keys, true);
      // It waits for goods-in.
      await page.getByText("No reader is connected.").waitFor();
      const banner = await page.getByRole("region", { name: "Verdict" }).boundingBox();
      assert.ok(banner.height <= 56, "it is as tall as a verdict");
      // Until then every list says that the bureau knows its keys.
      await page.show("inlays?uid=04DE5F1EACEEE1");
      const row = page.getByRole("row").filter({ has: page.getByRole("link") });
      await row.getByText("bureau keys").waitFor();
      await row.click();
      await page.getByText("Bureau keys: the bureau that encoded this inlay knows its keys.").waitFor();
    },
  },
});
