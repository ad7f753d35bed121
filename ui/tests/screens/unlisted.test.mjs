import assert from "node:assert/strict";
import { Inlay, sdmBackendFileKey, sdmBackendMetaKey } from "./inlay.mjs";
import { group } from "./suite.mjs";
import { tapAt } from "./tapAt.mjs";

const MASTER = "5A".repeat(16);
const chip = (number) => {
  const uid = `04AA00BB11CD${number.toString(16).padStart(2, "0").toUpperCase()}`;
  return new Inlay(uid, sdmBackendFileKey(MASTER, uid));
};
const path = (inlay, counter) => `/tag?picc_data=${inlay.picc(counter, sdmBackendMetaKey(MASTER))}&cmac=${inlay.mac(counter)}`;

/** A URL template that verifies any chip of the master key, once for all tests of a service. */
let posters;
const template = ({ api }, more = {}) =>
  (posters ??= (async () => {
    const derivation = { scheme: "sdm_backend", version: 2 };
    const master = await api.post("/master-keys", { name: "sdm-backend", key: MASTER, derivation });
    const form = { template: "https://posters.example/tag?picc_data={picc}&cmac={mac}", technology: "ntag424dna" };
    return api.post("/url-templates", { name: "Posters", ...form, master_key_ids: [master.id], ...more });
  })());
/** Taps chips that nobody has listed. */
async function strangers(world, ...numbers) {
  await template(world);
  for (const number of numbers) {
    for (const counter of [1, 2]) await tapAt(world.ui.service, "posters.example", path(chip(number), counter));
  }
}
const row = (page, number) => page.getByRole("row").filter({ hasText: chip(number).uid });
const gone = (page, number) => row(page, number).waitFor({ state: "detached" });

group("Unlisted chips", {
  states: {
    none: async (page) => {
      await page.show("unlisted");
      await page.getByRole("heading", { name: "No unlisted chips" }).waitFor();
    },
    "none that matches": async (page) => {
      await page.show("unlisted?uid=04000000000000");
      await page.getByText("No unlisted chip matches").waitFor();
    },
    "a few": async (page, world) => {
      await strangers(world, 1, 2);
      await page.show("unlisted");
      await row(page, 2).waitFor();
    },
    one: async (page, world) => {
      await strangers(world, 1);
      await page.show("unlisted");
      await row(page, 1).click();
      await page.getByRole("heading", { name: chip(1).uid }).waitFor();
    },
    "one that is gone": async (page) => {
      await page.show("unlisted/1255555");
      await page.getByText("not unlisted any more").waitFor();
    },
    "a template that accepts them": async (page, world) => {
      await page.show(`templates/${(await template(world)).id}`);
      await page.getByRole("radio", { name: /Create a tag/ }).check();
    },
  },
  stories: {
    "one is added to a tag, and its next tap is the tag's; undo takes it away again": async (page, world) => {
      const { api, ui, tags } = world;
      await strangers(world, 3);
      await page.show("inlays");
      await page.getByRole("link", { name: /^Unlisted chips · \d/ }).click();
      await row(page, 3).click();
      await page.getByRole("combobox", { name: "Add to tag" }).fill(tags[10].name);
      await page.getByRole("option", { name: new RegExp(tags[10].slug) }).click();
      await page.getByText(`Added to ${tags[10].name}.`).waitFor();
      await page.getByRole("heading", { name: chip(3).uid }).waitFor();
      await tapAt(ui.service, "posters.example", path(chip(3), 3));
      const { items } = await api.get(`/interactions?tag_id=${tags[10].id}&limit=1`);
      assert.deepEqual([items[0].tag_verified, items[0].reason], [true, "verified"]);
      await page.locator(".notice", { hasText: "Added to" }).getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal((await api.get(`/inlays?uid=${chip(3).uid}`)).items.length, 0);
    },
    "a code that was read before the chip was enrolled stays spent": async (page, world) => {
      const { api, ui, tags } = world;
      await strangers(world, 4);
      await page.show("unlisted");
      await row(page, 4).click();
      await page.getByRole("combobox", { name: "Add to tag" }).fill(tags[12].name);
      await page.getByRole("option", { name: new RegExp(tags[12].slug) }).click();
      await page.getByText(`Added to ${tags[12].name}.`).waitFor();
      await tapAt(ui.service, "posters.example", path(chip(4), 2));
      const { items } = await api.get(`/interactions?tag_id=${tags[12].id}&limit=1`);
      assert.deepEqual([items[0].tag_verified, items[0].reason], [false, "replayed"]);
    },
    "several get their tags together, with an experience, and with undo": async (page, world) => {
      const { api } = world;
      await strangers(world, 5, 6);
      await page.show("unlisted");
      for (const number of [5, 6]) await page.getByRole("checkbox", { name: `Select ${chip(number).uid}` }).check();
      await page.getByRole("button", { name: "Create tags…" }).click();
      await page.getByRole("dialog").getByLabel("Experience").selectOption("Register product");
      await page.getByRole("dialog").getByRole("button", { name: "Create tags" }).click();
      await page.getByText("2 tags created.").waitFor();
      await gone(page, 5);
      await gone(page, 6);
      const [tag] = (await api.get(`/tags?q=${chip(5).uid}`)).items;
      assert.equal(tag.name, chip(5).uid);
      assert.notEqual(tag.experience_id, null);
      await page.locator(".notice", { hasText: "2 tags created." }).getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal((await api.get(`/tags?q=${chip(5).uid}`)).items.length, 0);
    },
    "a template creates tags for them up to its limit, which is shown; the tags are undone together": async (page, world) => {
      const { api, ui } = world;
      const { id } = await template(world);
      await page.show(`templates/${id}`);
      await page.getByRole("radio", { name: /Create a tag/ }).check();
      await page.getByLabel("New tags a day, at most").fill("1");
      await page.getByLabel("Experience of the new tags").selectOption("Register product");
      await page.getByRole("region", { name: "Unlisted chips" }).getByRole("button", { name: "Save" }).click();
      await page.getByText("Unlisted chips: settings saved.").waitFor();
      for (const number of [7, 8]) await tapAt(ui.service, "posters.example", path(chip(number), 1));
      const tags = async () => (await api.get(`/tags?q=${chip(7).uid}`)).items.length;
      assert.equal(await tags(), 1);

      await page.show("overview");
      await page.getByRole("link", { name: "Daily limit of Posters" }).click();
      await page.getByText("1 tag created today, which is the limit").waitFor();
      await page.show("unlisted");
      await page.getByText("which is the limit").waitFor();
      await row(page, 8).waitFor();
      await page.getByRole("button", { name: "Undo created tags…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("1 tag and 1 inlay were created since then").waitFor();
      await dialog.getByRole("button", { name: "Delete them" }).click();
      await page.getByText("1 tag deleted.").waitFor();
      assert.equal(await tags(), 0);
      assert.equal((await api.get(`/url-templates/${id}`)).unlisted, "refuse");
    },
  },
});
