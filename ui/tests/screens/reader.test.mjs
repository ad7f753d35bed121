import assert from "node:assert/strict";
import { readerHost } from "./host.mjs";
import { group } from "./suite.mjs";

// A browser has no reader: the stand-in for the desktop has one. The tests of the window cover real reads.

const verdicts = ["ok", "duplicate", "counter_gap", "not_verified", "copied_url"];

/** A sheet with a row of each kind; its id. */
async function sheet({ api }) {
  const { id } = await api.post("/sheets", { name: "Delivery 12", planned: 25 });
  for (const verdict of verdicts) {
    await api.post(`/sheets/${id}/rows`, { uid: "04DE5F1EACC040", counter: 1, verdict, reason: "as it was judged" });
  }
  return id;
}

const heading = async (page, place, name) => {
  await page.show(place);
  await page.getByRole("heading", { name, exact: true }).waitFor();
};

/** An inlay of nobody, whose URL leads to a tag of ours. */
async function stranger(page, { ui, tags }) {
  const desk = await readerHost(page, ui);
  await page.show("reader");
  await desk.place("04AABBCCDDEE01", `${ui.service}/t/${tags[0].slug}?uid=04AABBCCDDEE01&token=00000194EED9EE65337086`);
  await page.getByRole("heading", { name: "This inlay has no tag yet" }).waitFor();
  return desk;
}

group("Reader and test sheets", {
  states: {
    "no reader": (page) => heading(page, "reader", "Reader"),
    doctor: (page) => heading(page, "reader/doctor", "Reader doctor"),
    "batch assignment": (page) => heading(page, "reader/batch", "Batch assignment"),
    sheets: (page) => heading(page, "sheets", "Test sheets"),
    "a sheet": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      await page.getByText("Counter gap").first().waitFor();
    },
    "a sheet to be signed off": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      await page.getByRole("button", { name: "Sign off…" }).click();
      await page.getByRole("dialog").waitFor();
    },
    "a new sheet": async (page) => {
      await heading(page, "sheets", "Test sheets");
      await page.getByRole("button", { name: "New sheet" }).click();
      await page.getByRole("dialog").waitFor();
    },
    // The stand-in for the desktop stays until the page closes, so this comes last.
    "an unknown inlay": stranger,
  },
  stories: {
    "an unknown inlay is said to be one, and is given a tag before anything else": async (page, world) => {
      await stranger(page, world);
      await page.getByText("This service does not know this chip.").waitFor();
      // The tag that its URL leads to is not its own.
      const tag = world.tags[0];
      const pane = page.getByRole("complementary", { name: "The tap" });
      assert.equal(await pane.getByRole("heading", { name: tag.name }).count(), 0);
      await pane.getByText(`Its URL leads to ${tag.name}, which has no inlay with this UID.`).waitFor();
      const button = await pane.getByRole("button", { name: "Assign to this tag" }).boundingBox();
      assert.ok(button.y + button.height < 700, "the form is not in sight");
      assert.ok(button.y < (await pane.getByRole("button", { name: "Send tap" }).boundingBox()).y);
      // The chip says its codes itself: only the key is asked for.
      assert.equal(await pane.getByLabel("Code in the URL").isVisible(), false);
      await pane.getByText("Codes, as the chip has them: UID and counter in clear").click();
      assert.equal(await pane.getByLabel("Code in the URL").inputValue(), "plain");
      await pane.getByLabel("File key").fill("7".repeat(32));
      await pane.getByRole("button", { name: "Assign to this tag" }).click();
      await page.getByText("Inlay assigned.").waitFor();
      await pane.getByRole("heading", { name: tag.name }).waitFor();
      await page.getByText("This service does not know this chip.").waitFor({ state: "detached" });
    },
    "what is typed for an unknown inlay is there again when it was lifted and is placed again": async (page, world) => {
      const uid = "04AABBCCDDEE03";
      const url = `${world.ui.service}/t/${world.tags[0].slug}?uid=${uid}&token=00000194EED9EE65337086`;
      const desk = await readerHost(page, world.ui);
      await page.show("reader");
      await desk.place(uid, url);
      const key = page.getByRole("complementary", { name: "The tap" }).getByLabel("File key");
      await key.fill("7".repeat(32));
      await desk.remove();
      await desk.place(uid, url);
      await page.getByText(`Inlay ${uid}, its tag: your changes are kept, but not saved.`).waitFor();
      assert.equal(await key.inputValue(), "7".repeat(32));
    },
    "a tap that was sent says how long it took": async (page, { ui, equipped }) => {
      const { tag, inlay } = equipped[3];
      const desk = await readerHost(page, ui);
      await page.show("reader");
      await desk.place(inlay.uid, `${ui.service}/t/${tag.slug}${inlay.read()}`);
      await page.getByRole("button", { name: "Send tap", exact: true }).click();
      const result = page.getByRole("status", { name: "Result" });
      await result.getByText(/^took [\d.]+ m?s$/).waitFor();
      assert.doesNotMatch(await result.innerText(), /NaN/);
    },
    "a tap is one picture, before it is sent and after: its URL and its counter stand there once": async (page, { ui, equipped }) => {
      const { tag, inlay } = equipped[4];
      const url = `${ui.service}/t/${tag.slug}${inlay.read()}`;
      const desk = await readerHost(page, ui);
      await page.show("reader");
      await desk.place(inlay.uid, url);
      const step = (name) =>
        page
          .getByRole("complementary", { name: "The tap" })
          .getByRole("listitem")
          .filter({ has: page.getByText(name, { exact: true }) });
      const send = page.getByRole("button", { name: "Send tap", exact: true });
      const once = async () => {
        assert.equal(await step("URL").locator("code").innerText(), url);
        assert.equal(await page.getByText(url, { exact: true }).count(), 1);
        assert.equal(await page.getByText(inlay.uid, { exact: true }).count(), 1);
        assert.match(await step("Counter").innerText(), new RegExp(`${parseInt(url.slice(-22, -16), 16)} after`));
      };
      await step("Counter").waitFor();
      await once();
      // The button is as high as the choice beside it.
      const to = await page.getByLabel("Recipient of the tap").boundingBox();
      assert.equal((await send.boundingBox()).height, to.height);
      await send.click();
      await step("Record").waitFor();
      await once();
    },
    "the switch that sends taps has a line of its own in a narrow window": async (page) => {
      await page.setViewportSize({ width: 1024, height: 700 });
      await heading(page, "reader", "Reader");
      const box = (one) => one.boundingBox();
      const doctor = await box(page.getByRole("link", { name: "Reader doctor" }).first());
      const own = await box(page.getByRole("switch", { name: "Send taps automatically" }));
      assert.ok(own.y >= doctor.y + doctor.height, `${own.y} beside ${doctor.y}`);
    },
    "export a sheet as it stands": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV…" }).click();
      const stream = await (await saved).createReadStream();
      const text = Buffer.concat(await stream.toArray()).toString();
      assert.deepEqual(
        text
          .trim()
          .split("\r\n")
          .slice(1)
          .map((line) => line.split(",")[5]),
        verdicts,
      );
    },
    "print a sheet whole, without the window around it": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      const printed = page.locator(".printed-sheet");
      assert.equal(await printed.isVisible(), false);
      await page.emulateMedia({ media: "print" });
      assert.equal(await page.locator("#app").isVisible(), false);
      const rows = await printed.locator("tbody tr").allInnerTexts();
      assert.deepEqual(
        rows.map((row) => row.split("\t")[1]),
        ["Good", "Duplicate", "Counter gap", "Not verified", "Copied URL"],
      );
      await printed.getByText("1 good, 1 to check, 3 bad, 5 in total.").waitFor();
    },
    "a sheet without a reader says so in little room, with the way out": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      const verdict = page.getByRole("region", { name: "Verdict" });
      await verdict.getByText("No reader is connected.").waitFor();
      assert.ok((await verdict.boundingBox()).height <= 140, "it is as tall as a verdict");
      await verdict.getByRole("link", { name: "Open reader doctor" }).click();
      await page.getByRole("heading", { name: "Reader doctor" }).waitFor();
    },
    "close a sheet, and reopen it": async (page, world) => {
      const id = await sheet(world);
      await heading(page, `sheets/${id}`, "Delivery 12");
      await page.getByRole("button", { name: "Close sheet" }).click();
      await page.getByText("The sheet is closed.").waitFor();
      assert.equal((await world.api.get(`/sheets/${id}`)).closed, true);
      await page.getByRole("button", { name: "Reopen" }).click();
      await page.getByRole("button", { name: "Close sheet" }).waitFor();
    },
    "show the rows of others as they come, and end a sheet by a signature": async (page, world) => {
      const id = await sheet(world);
      await heading(page, `sheets/${id}`, "Delivery 12");
      await page.getByText("5 of 25 tested").waitFor();
      const row = { verdict: "bad", reason: "Scratched", reader: "Phone of Anna" };
      await world.api.post(`/sheets/${id}/rows`, row);
      await page.getByText("Scratched · Phone of Anna").waitFor();
      await page.getByRole("button", { name: "Sign off…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("6 inlays: 1 good, 1 to check, 4 bad.").waitFor();
      await dialog.getByLabel("Your name").fill("Anna Berg");
      await dialog.getByRole("button", { name: "Sign off", exact: true }).click();
      await page.getByText("Signed off by Anna Berg.", { exact: true }).waitFor();
      assert.equal(await page.getByRole("button", { name: /^(Reopen|Close sheet|Sign off…)$/ }).count(), 0);
      const { signed_off } = await world.api.get(`/sheets/${id}`);
      assert.equal(signed_off.signer, "Anna Berg");
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save PDF…" }).click();
      const file = Buffer.concat(await (await (await saved).createReadStream()).toArray());
      assert.equal(file.subarray(0, 5).toString(), "%PDF-");
      await heading(page, "sheets", "Test sheets");
      await page.getByRole("row").filter({ hasText: "signed off" }).waitFor();
    },
  },
});
