import assert from "node:assert/strict";
import { Inlay, sdmBackendFileKey, sdmBackendMetaKey } from "./inlay.mjs";
import { arrived, begin, exportedBy, importAll, last, lines, next, OWN, solve, upload, use } from "./moves.mjs";
import { group } from "./suite.mjs";
import { tapAt } from "./tapAt.mjs";

const KEY = "0123456789ABCDEF".repeat(2);
const META = "FEDCBA9876543210".repeat(2);
const stranger = () => new Inlay("04AA00BB11CC22", KEY);
/** The form of the stranger's URLs. */
const at = (inlay, counter) => `https://old.example/v${inlay.at(counter)}`;

const fresh = async (page) => {
  await page.evaluate(() => localStorage.clear());
  await begin(page, OWN);
};
const found = (urls, keys) => async (page) => {
  await page.show("move");
  await fresh(page);
  await solve(page, urls, keys);
};
/** A step with the first URL template of the world as its reel. */
const withReel =
  (step) =>
  async (page, { api }) => {
    const { id } = (await api.get("/url-templates")).items[0];
    await page.show(`move?step=${step}&template=${id}`);
  };

group("The move from another service", {
  states: {
    beginning: (page) => page.show("move"),
    "a format that is proved": found(lines(at(stranger(), 1), at(stranger(), 2)), { keys: KEY }),
    "a format that keys could prove": found(lines(at(stranger(), 1), at(stranger(), 2))),
    "a format that nobody can tell": found("https://old.example/short/abc"),
    "no reel yet": (page) => page.show("move?step=switch"),
    "the reels": withReel("chips"),
    "a table with a problem": async (page, world) => {
      await withReel("table")(page, world);
      await upload(page, ["uid,meta,file,colour", `04AABBCCDD0001,${META},${KEY},red`, `04,${META},${KEY},blue`], {
        meta: "meta_key",
        file: "file_key",
      });
      await page.getByText("row cannot").or(page.getByText("rows cannot")).waitFor();
    },
    "the choice for unlisted chips": withReel("unlisted"),
    "what to change": async (page, world) => {
      await withReel("switch")(page, world);
      await page.getByText("Examples for Caddy").click();
      await page.getByText("Another service keeps the domain").click();
    },
  },
  stories: {
    "is in the navigation of tags, and in the first steps": async (page) => {
      await page.show("tags");
      await page.getByRole("link", { name: "Move in", exact: true }).click();
      await page.getByRole("heading", { name: "Move in", level: 1 }).waitFor();
      assert.equal(
        await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Tags" }).getAttribute("aria-current"),
        "page",
      );
    },
    "tells a shape, a proof and ignorance apart": async (page) => {
      await begin(page, OWN);
      await solve(page, lines(at(stranger(), 1), at(stranger(), 2), at(stranger(), 3)));
      await page.getByText("no code was checked").waitFor();
      assert.equal(await page.getByRole("heading", { name: "Proved" }).count(), 0);
      await solve(page, lines(at(stranger(), 1), at(stranger(), 2)), { keys: META });
      await page.getByText("no code verifies with the key above").waitFor();
      await solve(page, "https://old.example/short/abc");
      await page.getByRole("heading", { name: "Cannot tell" }).waitFor();
      await page.getByLabel("Keys", { exact: true }).fill("no key");
      await page.getByText("2 pieces of this are no key").waitFor();
      assert.ok(await page.getByRole("button", { name: "Find the format" }).isDisabled());
    },
    "from Bolt Card: three URLs and its table lead to a verified tap at the old address": async (page, { api, ui }) => {
      const inlay = stranger();
      const path = (counter) => `/ln?p=${inlay.picc(counter, META)}&c=${inlay.mac(counter)}`;
      await begin(page, "Bolt Card, LNbits");
      await solve(page, lines(...[1, 2, 3].map((counter) => `https://cards.example${path(counter)}`)), {
        keys: lines("00".repeat(16), KEY, META),
      });
      await page.getByText("key 3 is the meta key, key 2 the file key").waitFor();
      await use(page, "Cards");
      await next(page);

      assert.equal(await (await exportedBy(page)).inputValue(), "boltcard");
      const [k0, k3, k4] = ["1f", "3f", "4f"].map((byte) => byte.repeat(16));
      await upload(page, [
        "card_name,uid,k0,k1_decrypt_key,k2_cmac_key,k3,k4,last_counter_value",
        `Anna's card,${inlay.uid},${k0},${META},${KEY},${k3},${k4},3`,
        `Broken,04,${k0},${META},00,${k3},${k4},0`,
      ]);
      assert.equal(await page.getByLabel("Import last_counter_value as").inputValue(), "last_counter");
      await page.getByText("1 row can be imported, 1 row cannot").waitFor();
      assert.equal((await api.get(`/inlays?uid=${inlay.uid}`)).items.length, 0);
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("1 row imported").waitFor();
      await next(page);
      await last(page);

      await page.getByText("Examples for Caddy").click();
      await page.getByText("reverse_proxy").waitFor();
      await page.getByRole("tab", { name: "nginx" }).click();
      await page.getByText("server_name cards.example;").waitFor();
      await page.getByText("Cards: waiting for the first tap").waitFor();

      // A code that the former service accepted is spent, and the next one is good.
      await tapAt(ui.service, "cards.example", path(3));
      await tapAt(ui.service, "cards.example", path(4));
      await arrived(page, "Cards");
      await page.getByRole("heading", { name: "You have moved in" }).waitFor();
      const [tag] = (await api.get("/tags?q=Anna")).items;
      const { items } = await api.get(`/interactions?tag_id=${tag.id}`);
      assert.deepEqual(
        items.map(({ tag_verified, reason }) => [tag_verified, reason]),
        [
          [true, "verified"],
          [false, "replayed"],
        ],
      );
      await page.getByRole("button", { name: "Finish" }).click();
      await page.getByRole("heading", { name: "Tags", level: 1 }).waitFor();
      // The next move begins without the table of this one.
      await page.getByRole("link", { name: "Move in", exact: true }).click();
      await page.getByRole("heading", { name: "Which service are your chips from?" }).waitFor();
      const { id } = (await api.get("/url-templates")).items[0];
      await page.evaluate((place) => (location.hash = place), `#/move?step=table&template=${id}`);
      await exportedBy(page);
    },
    "a table without keys gets them from the master key that was found with the URLs": async (page, { api, ui }) => {
      const master = "5A".repeat(16);
      const inlay = new Inlay("04AA00BB11CC41", sdmBackendFileKey(master, "04AA00BB11CC41"));
      const path = (counter) => `/tag?picc_data=${inlay.picc(counter, sdmBackendMetaKey(master))}&cmac=${inlay.mac(counter)}`;
      await begin(page, OWN);
      await solve(page, lines(...[1, 2].map((counter) => `https://sdm.example${path(counter)}`)), { masters: master });
      await use(page, "Posters");
      await next(page);
      await upload(page, ["name,uid,last_counter", `Poster,${inlay.uid},2`]);
      await importAll(page, 1);
      assert.equal((await api.get(`/inlays?uid=${inlay.uid}`)).items[0].key_source, "master_key");
      await next(page);
      await last(page);
      await tapAt(ui.service, "sdm.example", path(3));
      await arrived(page, "Posters");
    },
    "from sdm-backend: a master key and no list, and the first tap of each chip creates its tag": async (page, { api, ui }) => {
      const master = "A5".repeat(16);
      const [one, other] = ["04AA00BB11CC51", "04AA00BB11CC52"].map((uid) => new Inlay(uid, sdmBackendFileKey(master, uid)));
      const path = (inlay, counter) => `/tag?picc_data=${inlay.picc(counter, sdmBackendMetaKey(master))}&cmac=${inlay.mac(counter)}`;
      await begin(page, OWN);
      await solve(page, lines(...[1, 2].map((counter) => `https://any.example${path(one, counter)}`)), { masters: master });
      await use(page, "Any poster");
      await next(page);
      await page.getByRole("button", { name: "Continue without a table" }).click();
      await page.getByRole("radio", { name: /Create a tag/ }).check();
      await page.getByLabel("Experience of the new tags").selectOption("Register product");
      await next(page);
      await page.getByText("Any poster: waiting for the first tap").waitFor();
      await tapAt(ui.service, "any.example", path(other, 1));
      await arrived(page, "Any poster");
      const [tag] = (await api.get(`/tags?q=${other.uid}`)).items;
      assert.notEqual(tag.experience_id, null);
    },
    "a step that is left while it is saved does not lead on": async (page, { api }) => {
      const { id } = await api.post("/url-templates", {
        ...{ name: "Left reel", template: "https://left.example/tag?picc_data={picc}&cmac={mac}", technology: "ntag424dna" },
        ...{ meta_keys: [META], shared_file_key: KEY },
      });
      await page.show(`move?step=unlisted&template=${id}`);
      await page
        .getByRole("region", { name: "Left reel" })
        .getByRole("radio", { name: /Show a page/ })
        .check();
      let save;
      const left = new Promise((resolve) => (save = resolve));
      await page.route(`**/admin/v1/url-templates/${id}`, (route) => left.then(() => route.continue()));
      const sent = page.waitForRequest(`**/admin/v1/url-templates/${id}`);
      await next(page);
      await sent;
      await page.getByRole("link", { name: "Simulator" }).click();
      save();
      // It leads on in the moment in which it is noted as finished.
      await page.waitForFunction(() => /"passed":\[[^\]]*"unlisted"/.test(Object.values(localStorage).join()));
      assert.match(page.url(), /#\/simulator/);
    },
    "two reels with their own tables move in together, each with its own first tap": async (page, { ui }) => {
      const [red, blue] = [new Inlay("04AA00BB11CC31", KEY), new Inlay("04AA00BB11CC32", META)];
      const urlOf = { red: (counter) => `/r${red.at(counter)}`, blue: (counter) => `/b${blue.at(counter)}` };
      await begin(page, OWN);
      await solve(page, lines(...[1, 2].map((counter) => `https://reels.example${urlOf.red(counter)}`)), { keys: KEY });
      await use(page, "Red reel");
      await page.getByRole("button", { name: "Add another reel" }).click();
      await solve(page, lines(...[1, 2].map((counter) => `https://reels.example${urlOf.blue(counter)}`)), { keys: META });
      await use(page, "Blue reel");
      await next(page);
      for (const [name, inlay, key] of [
        ["Red reel", red, KEY],
        ["Blue reel", blue, META],
      ]) {
        await page.getByRole("radio", { name: new RegExp(name) }).check();
        await upload(page, ["name,uid,file_key,last_counter,technology", `Bottle ${name},${inlay.uid},${key},2,ntag424dna`]);
        await importAll(page, 1);
        if (name === "Blue reel") continue;
        await page.getByRole("button", { name: "Import another file" }).click();
      }
      await next(page);
      await last(page);
      assert.equal(await page.getByRole("heading", { name: "Lead reels.example to Tapdesk" }).count(), 1);
      await tapAt(ui.service, "reels.example", urlOf.red(3));
      await arrived(page, "Red reel");
      await page.getByText("Blue reel: waiting for the first tap").waitFor();
      assert.equal(await page.getByRole("heading", { name: "You have moved in" }).count(), 0);
      await tapAt(ui.service, "reels.example", urlOf.blue(3));
      await arrived(page, "Blue reel");
      await page.getByRole("heading", { name: "You have moved in" }).waitFor();
    },
    "is left and resumed, with what was pasted and without the keys; starting over is undone": async (page) => {
      await begin(page, "ixkio");
      await page.getByLabel("URLs").fill("https://old.example/v?uid=1");
      await page.getByLabel("Keys", { exact: true }).fill(KEY);
      await page.getByRole("link", { name: "Tags", exact: true }).click();
      await page.getByRole("heading", { name: "Tags", level: 1 }).waitFor();
      await page.getByRole("link", { name: "Move in", exact: true }).click();
      assert.equal(await page.getByLabel("URLs").inputValue(), "https://old.example/v?uid=1");
      assert.equal(await page.getByLabel("Keys", { exact: true }).inputValue(), "");
      await page.getByRole("link", { name: /Table/ }).click();
      await page.getByText("Find the format of your URLs first").waitFor();
      // The window remembers the step, also after a restart.
      await page.show("move");
      await page.getByText("Find the format of your URLs first").waitFor();
      await page.getByRole("button", { name: "Start over" }).click();
      await page.getByRole("heading", { name: "Which service are your chips from?" }).waitFor();
      assert.equal(await page.getByRole("button", { name: /ixkio/ }).getAttribute("aria-pressed"), "false");
      await page.locator(".notice", { hasText: "starts over" }).getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await page.getByRole("button", { name: /ixkio/ }).getAttribute("aria-pressed"), "true");
    },
    "the keyboard is enough up to the table": async (page) => {
      await page.show("move?step=service");
      await page.getByRole("button", { name: OWN }).focus();
      await page.keyboard.press("Enter");
      await page.getByLabel("URLs").focus();
      await page.keyboard.insertText(lines(at(stranger(), 1), at(stranger(), 2)));
      await page.keyboard.press("Tab");
      await page.keyboard.insertText(KEY);
      await page.keyboard.press("Control+Enter");
      await page.getByRole("heading", { name: "Proved" }).waitFor();
      await page.getByRole("button", { name: "Use this template…" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").getByLabel("Name").waitFor();
      await page.keyboard.press("Control+Enter");
      // The focus goes on where the next thing is.
      await page.locator("h2:focus", { hasText: "Reels of this move" }).waitFor();
      const button = (name) => page.locator(":focus").and(page.getByRole("button", { name, exact: true }));
      for (const _ of ["the template's link", "its button", "Continue"]) await page.keyboard.press("Tab");
      await button("Continue").waitFor();
      await page.keyboard.press("Enter");
      await page.locator(".body:focus").waitFor();
      // The Tab key passes over a field until its choices have come from the service.
      await page.getByLabel("Exported by").and(page.locator(":enabled")).waitFor();
      await page.keyboard.press("Tab");
      await page.getByLabel("Exported by").and(page.locator(":focus")).waitFor();
    },
    "says why a host does not lead here yet": async (page, world) => {
      await withReel("switch")(page, world);
      await page.getByRole("button", { name: "Check now" }).click();
      await page
        .locator(".check p")
        .filter({ hasText: /tags\.example\.com/ })
        .waitFor();
      assert.equal(await page.getByRole("checkbox", { name: /Lower the TTL/ }).isChecked(), false);
      await page.getByRole("checkbox", { name: /Lower the TTL/ }).check();
      await page.show("move?step=switch");
      assert.equal(await page.getByRole("checkbox", { name: /Lower the TTL/ }).isChecked(), true);
    },
  },
});
