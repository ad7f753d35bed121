import assert from "node:assert/strict";
import { narrow } from "./browser.mjs";
import { group } from "./suite.mjs";
import { Inlay } from "./inlay.mjs";
import { tapAt } from "./tapAt.mjs";

const KEY = "0123456789ABCDEF".repeat(2);
const bottles = async (api) => (await api.get("/url-templates")).items[0];

group("URL templates", {
  states: {
    list: (page) => page.show("templates"),
    "one that inlays use": async (page, { api }) => page.show(`templates/${(await bottles(api)).id}`),
    "one that none uses": async (page, { api }) => page.show(`templates/${(await api.get("/url-templates")).items[1].id}`),
    "one that is gone": async (page) => {
      await page.show("templates/99");
      await page.getByText("no longer exists").waitFor();
    },
    "a new one that is refused": async (page) => {
      await page.show("templates/new");
      await page.getByLabel("Name", { exact: true }).fill("Refused");
      await page.getByLabel("URL with placeholders").fill("https://new.example/{slug}?p={picc}{nope}&c={mac}");
      await page.getByRole("button", { name: "Create" }).click();
      await page.getByRole("alert").getByText('"{nope}" is no placeholder').waitFor();
    },
  },
  stories: {
    "is created, with its placeholders explained as they are typed": async (page, { api }) => {
      await page.show("templates/new");
      await page.getByLabel("Name", { exact: true }).fill("Posters");
      const url = page.getByLabel("URL with placeholders");
      await url.fill("https://posters.example/p/{slug}?u=");
      await url.press("End");
      await page.getByRole("button", { name: "{uid}", exact: true }).click();
      await url.press("End");
      await url.pressSequentially("&n={counter}&c={mac}");
      await page.getByText("A tap finds its tag by the slug in the URL.").waitFor();
      await page.getByText("the number of reads so far").waitFor();
      await url.press("Enter");
      await page.getByRole("button", { name: "Create" }).click();
      await page.getByText("Created Posters.").waitFor();
      const { items } = await api.get("/url-templates");
      assert.equal(items.find(({ name }) => name === "Posters").template, "https://posters.example/p/{slug}?u={uid}&n={counter}&c={mac}");
    },
    "says what is refused at the field, with the place marked": async (page) => {
      await page.show("templates/new");
      await page.getByLabel("Name", { exact: true }).fill("Refused");
      const url = page.getByLabel("URL with placeholders");
      await url.fill("https://new.example/a/{slug}?p={picc}{nope}&c={mac}");
      await page.getByRole("button", { name: "Create" }).click();
      await page
        .getByRole("alert")
        .getByText(/Character 38: "\{nope\}" is no placeholder/)
        .waitFor();
      assert.equal(await url.getAttribute("aria-invalid"), "true");
      assert.equal(await page.locator(".marks .at").textContent(), "{nope}");
      assert.equal(await url.inputValue(), "https://new.example/a/{slug}?p={picc}{nope}&c={mac}");
    },
    "keeps what decides a MAC while inlays use it, and changes its name": async (page, { api }) => {
      const { id, inlays } = await bottles(api);
      await page.show(`templates/${id}`);
      await page.getByText(`${inlays} inlays`).waitFor();
      assert.equal(await page.getByLabel("URL with placeholders").count(), 0);
      const name = page.getByLabel("Name", { exact: true });
      await name.fill("Bottles of 2024");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("URL template saved.").waitFor();
      assert.equal((await bottles(api)).name, "Bottles of 2024");
    },
    "has an encoding sheet, for the chip of a tag if its slug is in the URL": async (page, { api, tags }) => {
      const [one, other] = (await api.get("/url-templates")).items;
      await page.show(`templates/${one.id}`);
      await page.getByText("Encoding sheet").click();
      await page.getByText("ChangeFileSettings").waitFor();
      await page.getByText(/^empty, at byte|^\d+ bytes from byte/).waitFor();
      await page.show(`templates/${other.id}`);
      await page.getByText("Encoding sheet").click();
      await page.getByRole("combobox", { name: "Tag" }).fill(tags[3].name);
      await page.getByRole("option", { name: new RegExp(tags[3].slug) }).click();
      await page.getByText(new RegExp(`/s/${tags[3].slug}`)).waitFor();
    },
    "takes shared keys in, names them by their check value, and asks before one is removed": async (page, { api }) => {
      const { id, meta_key_checks } = await bottles(api);
      await page.show(`templates/${id}`);
      const keys = page.getByRole("list", { name: "Shared meta keys" });
      await keys.getByText(meta_key_checks[0]).waitFor();
      await page.getByLabel("New meta key").fill("not a key");
      await page.getByRole("button", { name: "Add key" }).click();
      await page.getByRole("alert").first().waitFor();
      assert.equal(await page.getByLabel("New meta key").inputValue(), "not a key");
      await page.getByLabel("New meta key").fill("C3".repeat(16));
      await page.getByRole("button", { name: "Add key" }).click();
      await page.getByText("Meta key added.").waitFor();
      const added = (await bottles(api)).meta_key_checks.filter((check) => !meta_key_checks.includes(check));
      assert.equal(added.length, 1);
      assert.ok(!(await page.content()).includes("C3C3C3"));
      // By its name: the list may be older than the notice, and its last key another one.
      await keys.getByRole("button", { name: `Remove key ${added[0]}…` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove key" }).click();
      await page.getByText("Meta key removed.").waitFor();
      assert.deepEqual((await bottles(api)).meta_key_checks, meta_key_checks);
    },
  },
});

group("Inlays", {
  states: {
    list: (page) => page.show("inlays"),
    "one on no tag": async (page, { api }) => page.show(`inlays/${(await api.get("/inlays?unbound=true")).items[0].id}`),
    "none that matches": async (page) => {
      await page.show("inlays?uid=04000000000000");
      await page.getByText("No inlay matches").waitFor();
    },
    "a new one with a known weakness": async (page) => {
      await page.show("inlays");
      await page.getByRole("button", { name: "New inlay" }).click();
      await page.getByLabel("Chip").selectOption("NTAG 223 DNA");
      await page.getByRole("dialog").getByText("Known weakness").waitFor();
    },
  },
  stories: {
    "are found by their whole UID, and by their template": async (page, { api }) => {
      await page.show("inlays");
      await page.getByLabel("UID of an inlay").fill("04:c0:ff:ee:00:10:03");
      const list = page.getByRole("grid", { name: "Inlays" });
      await page.waitForFunction(() => document.querySelectorAll("[data-row]").length === 1);
      await list.getByText("04C0FFEE001003").waitFor();
      await page.getByLabel("UID of an inlay").fill("");
      await narrow(page, "URL template", (await bottles(api)).name);
      await page.waitForFunction(() => document.querySelectorAll("[data-row]").length === 8);
    },
    "say which tag they are on, and their state, in words": async (page, { api, equipped }) => {
      const { tag, inlay } = equipped[0];
      await page.show("inlays");
      const row = (uid) => page.getByRole("row").filter({ hasText: uid });
      await row(inlay.uid).getByText(tag.name, { exact: true }).waitFor();
      await row(inlay.uid).getByText("in use", { exact: true }).waitFor();
      const spare = (await api.get("/inlays?unbound=true&simulated=false")).items[0];
      await page.show(`inlays?uid=${spare.uid}`);
      await row(spare.uid).getByText("no tag", { exact: true }).waitFor();
      await row(spare.uid).getByText("not in use", { exact: true }).waitFor();
    },
    "one of a URL template is added with the keys its chip has, and what is wrong stands at its field": async (page, { api }) => {
      await page.show("inlays");
      await page.getByRole("button", { name: "New inlay" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("UID", { exact: true }).fill("04:11:22");
      await dialog.getByLabel("URL", { exact: true }).selectOption((await bottles(api)).name);
      await dialog.getByLabel("Meta key").fill("A1".repeat(16));
      await dialog.getByLabel("File key").fill("B2".repeat(16));
      await dialog.getByLabel("Last counter").fill("61");
      await dialog.getByRole("button", { name: "Add inlay" }).click();
      await page.waitForFunction(() => document.querySelector("[role=dialog] [aria-invalid=true], [role=dialog] [role=alert]"));
      await dialog.getByLabel("UID", { exact: true }).fill("04112233445566");
      await dialog.getByRole("button", { name: "Add inlay" }).click();
      await page.getByText("Inlay added.").waitFor();
      const { items } = await api.get("/inlays?uid=04112233445566");
      assert.equal(items[0].last_counter, 61);
      assert.equal(items[0].url_template_id, (await bottles(api)).id);
    },
    "one is bound to a tag and unbound again, with undo": async (page, { api, tags }) => {
      const { id } = (await api.get("/inlays?unbound=true&simulated=false")).items.at(-1);
      const tag = async () => (await api.get(`/inlays/${id}`)).tag_id;
      await page.show(`inlays/${id}`);
      await page.getByRole("combobox", { name: "Tag" }).fill(tags[25].name);
      await page.getByRole("option", { name: new RegExp(tags[25].slug) }).click();
      await page.getByText("Inlay bound.").waitFor();
      assert.equal(await tag(), tags[25].id);
      await page.getByRole("button", { name: /More actions for inlay/ }).click();
      await page.getByRole("menuitem", { name: "Unbind from the tag" }).click();
      await page.getByText("Inlay unbound.").waitFor();
      assert.equal(await tag(), null);
      await page.locator(".notice", { hasText: "Inlay unbound." }).getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await tag(), tags[25].id);
    },
    "one is bound to no other tag than the typed one, also if it is not found yet": async (page, { api, tags }) => {
      const { id } = await api.post("/inlays", { uid: "04E1D2C3B4A59A", technology: "ntag213" });
      await page.show(`inlays/${id}`);
      const field = page.getByRole("combobox", { name: "Tag" });
      await field.click();
      await page.getByRole("option").first().waitFor();
      let find;
      const late = new Promise((resolve) => (find = resolve));
      await page.route("**/admin/v1/tags?*", (route) => late.then(() => route.continue()));
      await field.fill(tags[24].slug);
      await page.getByText("Searching…").waitFor();
      await field.press("Enter");
      find();
      await field.fill(tags[24].slug);
      await page.getByRole("option", { name: new RegExp(tags[24].slug) }).click();
      await page.getByText("Inlay bound.").waitFor();
      assert.equal((await api.get(`/inlays/${id}`)).tag_id, tags[24].id);
    },
    "one that was lost is blocked and unblocked, with undo, and the feed says so": async (page, { api, tags, ui }) => {
      const inlay = new Inlay("04B10C4ED00001", KEY);
      const { id } = await api.post("/inlays", {
        uid: inlay.uid,
        technology: "ntag424dna",
        mirror: "plain",
        file_key: KEY,
        tag_id: tags[26].id,
      });
      const blocked = async () => (await api.get(`/inlays/${id}`)).blocked;
      await page.show(`tags/${tags[26].id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      const card = page.getByRole("article", { name: `Inlay ${inlay.uid}` });
      await card.getByRole("button", { name: /More actions/ }).click();
      await page.getByRole("menuitem", { name: "Block…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Block inlay" }).click();
      await page.getByText("Inlay blocked.").waitFor();
      await card.getByText("its taps are not verified").waitFor();
      assert.equal(await blocked(), true);
      await fetch(`${ui.service}/t/${tags[26].slug}${inlay.read()}`, { redirect: "manual" });
      await page.show(`inlays?blocked=true`);
      await page.getByText(inlay.uid).first().waitFor();
      await page.show("interactions?reason=blocked");
      await page.getByText("inlay blocked", { exact: true }).first().waitFor();
      await page.show(`inlays/${id}`);
      await page.getByRole("button", { name: /More actions for inlay/ }).click();
      await page.getByRole("menuitem", { name: "Unblock…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Unblock inlay" }).click();
      await page.getByText("Inlay unblocked.").waitFor();
      assert.equal(await blocked(), false);
      await page.locator(".notice", { hasText: "Inlay unblocked." }).getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await blocked(), true);
    },
    "a counter that jumped is shown, and accepted by its owner": async (page, { api, ui }) => {
      const tag = await api.post("/tags", { name: "Jumper", slug: "jumper-1" });
      const template = await api.post("/url-templates", {
        name: "Mirror",
        template: "https://mirror.example/m/{slug}?m={uid}x{counter}",
        technology: "ntag213",
      });
      const inlay = await api.post("/inlays", {
        uid: "04ABCDEF012345",
        technology: "ntag213",
        url_template_id: template.id,
        tag_id: tag.id,
      });
      await tapAt(ui.service, "mirror.example", "/m/jumper-1?m=04ABCDEF012345x000005");
      await tapAt(ui.service, "mirror.example", "/m/jumper-1?m=04ABCDEF012345x001388");
      await page.show(`inlays/${inlay.id}`);
      await page.getByText("showed counter 5,000, after 5").waitFor();
      await page.getByRole("button", { name: "Accept…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Accept counter" }).click();
      await page.getByText("Counter 5,000 accepted.").waitFor();
      assert.equal((await api.get(`/inlays/${inlay.id}`)).last_counter, 5000);
      await page.getByText("showed counter 5,000").waitFor({ state: "hidden" });
    },
    "a seal that was seen open marks its tag, and leads to the tap": async (page, { api, ui }) => {
      const tag = await api.post("/tags", { name: "Sealed", slug: "sealed-1" });
      const url = "https://seals.example/s/{slug}?u={uid}&c={counter}&t={tamper}&m={mac}";
      const template = await api.post("/url-templates", { name: "Seals", template: url, technology: "ntag424dna_tt", mac_from: "tamper" });
      const inlay = new Inlay("04ABCDEF012346", KEY);
      await api.post("/inlays", {
        uid: inlay.uid,
        technology: "ntag424dna_tt",
        url_template_id: template.id,
        tag_id: tag.id,
        file_key: KEY,
      });
      const tap = (counter, loop) =>
        tapAt(ui.service, "seals.example", `/s/sealed-1?u=${inlay.uid}&c=00000${counter}&t=${loop}&m=${inlay.mac(counter, `${loop}&m=`)}`);
      await tap(1, "CC");
      await page.show(`tags/${tag.id}`);
      await page.getByLabel("Selected tag").getByRole("link", { name: "verified" }).waitFor();
      assert.equal(await page.getByText("Seal broken").count(), 0);
      await tap(2, "OO");
      await page.getByRole("link", { name: /Seal broken: seen/ }).click();
      await page.getByRole("heading", { name: /^Interaction \d/ }).waitFor();
    },
    "each way of deriving keys has its options": async (page, { api }) => {
      await page.show("settings/keys");
      for (const [scheme, options] of [
        ["boltcard", { Version: "0" }],
        ["sdm-backend", { "Slot of the meta key": "3" }],
        ["ntag424 (Rust)", { "System identifier": "shop" }],
        ["Plain CMAC", { "Diversification input": "01{uid}" }],
      ]) {
        await page.getByRole("button", { name: "New master key…" }).click();
        await page.getByLabel("Name", { exact: true }).fill(scheme);
        await page.getByLabel("Key", { exact: true }).fill("D4".repeat(16));
        await page.getByLabel("Derivation").selectOption(scheme);
        for (const [label, value] of Object.entries(options)) await page.getByLabel(label).fill(value);
        await page.getByRole("button", { name: "Add master key" }).click();
        await page.getByText(`Added ${scheme}.`).waitFor();
      }
      const { items } = await api.get("/master-keys");
      assert.deepEqual(items.map(({ derivation }) => derivation.scheme).toSorted(), [
        "boltcard",
        "ntag424_crate",
        "plain_cmac",
        "sdm_backend",
      ]);
      assert.equal(items.find(({ name }) => name === "sdm-backend").derivation.meta_slot, 3);
    },
  },
});
