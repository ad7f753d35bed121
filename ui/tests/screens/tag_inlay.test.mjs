// A tag's inlays, its QR code and its encoding sheet.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { settled } from "./browser.mjs";
import { readerHost } from "./host.mjs";
import { group } from "./suite.mjs";

const inlays = async (page, { tags }) => {
  await page.show(`tags/${tags[46].id}`);
  await page.getByRole("tab", { name: "Inlay & QR" }).click();
  await settled(page);
};

/**
 * Binds the inlay `id` to another tag as somebody else, once the page has sent its next request about it. The page cannot
 * hear of that by its live events before the click that sends the request.
 */
const bindMeanwhile = (page, api, id, tag) =>
  page.route(
    `**/admin/v1/inlays/${id}`,
    async (route) => {
      await api.patch(`/inlays/${id}`, { tag_id: tag.id });
      await route.continue();
    },
    { times: 1 },
  );

group("A tag's inlays", {
  states: {
    "inlay and QR code": inlays,
    "the encoding sheet": async (page, world) => {
      await inlays(page, world);
      await page.getByText("Encoding sheet for").click();
    },
    "an inlay to be edited": async (page, world) => {
      await inlays(page, world);
      await page.getByRole("button", { name: "Edit…" }).click();
      await page.getByRole("dialog").getByText("Technical", { exact: true }).click();
      await page.getByRole("dialog").getByLabel("MAC input", { exact: true }).waitFor();
    },
    "an inlay to be added": async (page, world) => {
      await inlays(page, world);
      await page.getByRole("button", { name: "Add inlay…" }).click();
      await page.getByLabel("File key").waitFor();
    },
  },
  stories: {
    "an inlay's mirror, MAC input and keys are edited on its tag": async (page, { api }) => {
      const tag = await api.post("/tags", { name: "Edited" });
      const key = "0123456789ABCDEF0123456789ABCDEF";
      const made = { uid: "04E1D2C3B4A596", technology: "ntag424dna", tag_id: tag.id, mirror: "plain", file_key: key };
      const before = await api.post("/inlays", made);
      await page.show(`tags/${tag.id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      const edit = async (change) => {
        await page.getByRole("button", { name: "Edit…" }).click();
        await change();
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.getByRole("dialog").waitFor({ state: "detached" });
        return api.get(`/inlays/${before.id}`);
      };
      const moved = await edit(async () => {
        const dialog = page.getByRole("dialog");
        assert.equal(await dialog.getByLabel("MAC input", { exact: true }).isVisible(), false);
        await dialog.getByText("Technical", { exact: true }).click();
        await dialog.getByLabel("MAC input", { exact: true }).selectOption("uid");
      });
      assert.deepEqual([moved.mirror, moved.mac_from, moved.file_key_check], ["plain", "uid", before.file_key_check]);
      const changed = await edit(async () => {
        await page.getByRole("dialog").getByLabel("Code in the URL", { exact: true }).selectOption("encrypted");
        await page.getByLabel("Keys", { exact: true }).selectOption("own");
        await page.getByLabel("Meta key").fill(key);
        await page.getByLabel("File key").fill(key.split("").reverse().join(""));
      });
      assert.equal(changed.mirror, "encrypted");
      assert.notEqual(changed.file_key_check, before.file_key_check);
      const stopped = await edit(() => page.getByRole("dialog").getByLabel("Code in the URL", { exact: true }).selectOption(""));
      assert.equal(stopped.mirror, null);
    },
    "a chip that its keys were asked of too often is asked again once a person says that it is the right one": async (
      page,
      { api, ui },
    ) => {
      const tag = await api.post("/tags", { name: "Asked too often" });
      const encode = {
        ...{ reader: "ACS ACR1252 1S CL Reader", insertion: 1, id: 1, state: "rejected", reason: "foreign_key" },
        ...{ result: null, step: { at: 1, of: 33 }, doing: null, log: [] },
      };
      const desk = await readerHost(page, ui, { encode });
      await page.show(`tags/${tag.id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      await page.getByRole("button", { name: "Encode an inlay…" }).click();
      await page.getByText("Place a new inlay on the reader.").waitFor();
      await desk.place("04AABBCCDDEE02", null);
      await page.getByText("Foreign key", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Try keys again…" }).click();
      await page.getByText("one that refuses 1,000 times is locked permanently").waitFor();
      await page.getByRole("button", { name: "Try again", exact: true }).click();
      await page.waitForFunction(() => globalThis.host.encoded.length === 2);
      const [first, second] = await page.evaluate(() => globalThis.host.encoded);
      assert.deepEqual([first.tag_id, first.replace, second.tag_id, second.replace], [tag.id, undefined, tag.id, true]);
    },
    "a new tag gets its inlay in two steps, with the choices of the last one": async (page, { ui }) => {
      const encode = {
        ...{ reader: "ACS ACR1252 1S CL Reader", insertion: 1, id: 1, state: "rejected", reason: "foreign_key" },
        ...{ result: null, step: { at: 1, of: 33 }, doing: null, log: [] },
      };
      const desk = await readerHost(page, ui, { encode });
      const create = async (name) => {
        await page.show("tags?new=tag");
        await page.getByRole("dialog").getByLabel("Name").fill(name);
        await page.getByRole("button", { name: "Create", exact: true }).click();
      };
      await create("In two steps");
      await page.getByRole("button", { name: "Encode an inlay", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Encode an inlay for In two steps" });
      await dialog.getByText("NTAG 424 DNA, one-time URLs").waitFor();
      // Another choice is a click away, and is the one of the next inlay.
      await dialog.getByRole("button", { name: "Change…" }).click();
      await dialog.getByLabel("Chip and URL").selectOption("ntag213");
      await dialog.getByRole("button", { name: "Encode", exact: true }).click();
      await desk.place("04AABBCCDDEE03", null);
      await page.waitForFunction(() => globalThis.host.encoded.length === 1);
      await desk.remove();
      await create("The next one");
      await page.getByRole("button", { name: "Encode an inlay", exact: true }).click();
      await page.getByRole("dialog").getByText("NTAG213, static URL").waitFor();
      await desk.place("04AABBCCDDEE04", null);
      await page.waitForFunction(() => globalThis.host.encoded.length === 1);
      assert.equal((await page.evaluate(() => globalThis.host.encoded))[0].technology, "ntag213");
    },
    "a chip that is on the reader already is not encoded before a person says so": async (page, { api, ui }) => {
      const tag = await api.post("/tags", { name: "Chip on the reader" });
      const desk = await readerHost(page, ui);
      await page.show(`tags/${tag.id}`);
      await desk.place("04AABBCCDDEE05", null);
      await page.getByRole("button", { name: "Encode an inlay", exact: true }).click();
      await page.getByRole("dialog").getByLabel("Chip and URL").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Encode", exact: true }).waitFor();
      assert.deepEqual(await page.evaluate(() => globalThis.host.encoded), []);
    },
    "a chip of another tag is wiped only after that tag was named": async (page, { api, ui }) => {
      const [owner, other] = [await api.post("/tags", { name: "The owner" }), await api.post("/tags", { name: "The other" })];
      await api.post("/inlays", { uid: "04AABBCCDDEE06", technology: "ntag213", tag_id: owner.id });
      const encode = {
        ...{ reader: "ACS ACR1252 1S CL Reader", insertion: 1, id: 1, state: "rejected", reason: "already_encoded" },
        ...{ result: null, step: { at: 1, of: 33 }, doing: null, log: [] },
      };
      const desk = await readerHost(page, ui, { encode });
      await page.show(`tags/${other.id}`);
      await page.getByRole("button", { name: "Encode an inlay", exact: true }).click();
      await page.getByText("Place a new inlay on the reader.").waitFor();
      await desk.place("04AABBCCDDEE06", null);
      await page.getByText("Already encoded", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Wipe this inlay…" }).click();
      await page.getByText("Wipe inlay 04AABBCCDDEE06 of The owner?").waitFor();
    },
    "an inlay that somebody else changed is overwritten only after both values were shown": async (page, { api }) => {
      const tag = await api.post("/tags", { name: "Edited by two" });
      const made = {
        uid: "04E1D2C3B4A597",
        technology: "ntag424dna",
        tag_id: tag.id,
        mirror: "plain",
        file_key: "0123456789ABCDEF0123456789ABCDEF",
      };
      const { id } = await api.post("/inlays", made);
      const stored = async () => (({ mirror, mac_from }) => [mirror, mac_from])(await api.get(`/inlays/${id}`));
      await page.show(`tags/${tag.id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      await page.getByRole("button", { name: "Edit…" }).click();
      await page.getByRole("dialog").getByLabel("Code in the URL", { exact: true }).selectOption("");
      await api.patch(`/inlays/${id}`, { mac_from: "uid" });
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("alert").getByText("Somebody else changed this").waitFor();
      await page.getByText("Changed to “UID and counter in clear; MAC input: URL from uid on;").waitFor();
      assert.deepEqual(await stored(), ["plain", "uid"]);
      assert.equal(await page.getByRole("dialog").getByLabel("Code in the URL", { exact: true }).inputValue(), "");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("Inlay saved.").waitFor();
      assert.equal((await stored())[0], null);
    },
    "an inlay that somebody else bound to another tag stays there": async (page, { api }) => {
      const [first, second] = [await api.post("/tags", { name: "First" }), await api.post("/tags", { name: "Second" })];
      const { id } = await api.post("/inlays", { uid: "04E1D2C3B4A598", technology: "ntag213", tag_id: first.id });
      const unbind = async () => {
        await page.getByRole("button", { name: "More actions for inlay 04E1D2C3B4A598" }).click();
        await bindMeanwhile(page, api, id, second);
        await page.getByRole("menuitem", { name: "Unbind from the tag" }).click();
        await page
          .getByRole("alert")
          .getByText("Somebody else bound inlay 04E1D2C3B4A598 to another tag in the meantime. It stays there.")
          .waitFor();
        assert.equal((await api.get(`/inlays/${id}`)).tag_id, second.id);
      };
      await page.show(`tags/${first.id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      await unbind();
      await page.getByText("No inlay yet.").waitFor();
      await api.patch(`/inlays/${id}`, { tag_id: first.id });
      await page.show(`inlays/${id}`);
      await page.getByRole("link", { name: "First" }).waitFor();
      await unbind();
      await page.getByRole("link", { name: "Second" }).waitFor();
    },
    "an inlay that somebody else bound in the meantime is not bound to another tag": async (page, { api }) => {
      const [first, second] = [await api.post("/tags", { name: "Theirs" }), await api.post("/tags", { name: "Ours" })];
      const { id } = await api.post("/inlays", { uid: "04E1D2C3B4A599", technology: "ntag213" });
      await page.show(`inlays/${id}`);
      await page.getByRole("combobox", { name: "Tag" }).fill("Ours");
      await bindMeanwhile(page, api, id, first);
      await page.getByRole("option", { name: new RegExp(second.slug) }).click();
      await page.getByRole("alert").getByText("Somebody else changed this in the meantime.").waitFor();
      await page.getByRole("link", { name: "Theirs" }).waitFor();
      assert.equal((await api.get(`/inlays/${id}`)).tag_id, first.id);
    },
    "that is printed asks whether the code is in use if its inlay makes codes": async (page, { api }) => {
      const [inlay] = (await api.get("/inlays?limit=1")).items;
      await page.show(`tags/${inlay.tag_id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      await page.getByRole("button", { name: "Save SVG…" }).click();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Mark as printed" }).click();
      assert.match(await readFile(await (await saved).path(), "utf8"), /^<svg/);
      assert.equal((await api.get(`/tags/${inlay.tag_id}`)).has_qr_code, true);
    },
  },
});
