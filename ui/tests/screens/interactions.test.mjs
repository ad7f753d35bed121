import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { narrow } from "./browser.mjs";
import { group } from "./suite.mjs";

const newest = async (api) => (await api.get("/interactions?limit=1")).items[0];

group("Interactions", {
  states: {
    feed: (page) => page.show("interactions"),
    "of one state": (page) => page.show("interactions?verification=not_verified"),
    "inspector of a tap whose key lives": async (page, { api }) => {
      await page.show(`interactions/${(await newest(api)).id}`);
      await page.getByText("valid for").waitFor();
    },
    "inspector of a replay": async (page, { api }) => {
      const [replay] = (await api.get("/interactions?reason=replayed&limit=1")).items;
      await page.show(`interactions/${replay.id}?reason=replayed`);
      await page.getByText("Technical: the calls of your page").click();
      await page.getByText("Read the payload").waitFor();
    },
    "visitor data of a tap that proves it, and of one that does not": async (page, { api }) => {
      const [replay] = (await api.get("/interactions?reason=replayed&limit=1")).items;
      await page.show(`interactions/${replay.id}`);
      await page.getByRole("button", { name: "View visitor data" }).click();
      await page.getByText("was not verified").waitFor();
      await page.show(`interactions/${(await newest(api)).id}`);
      await page.getByRole("button", { name: "View visitor data" }).click();
      await page.getByRole("heading", { name: "Stays" }).waitFor();
    },
    "the choice of a tag": async (page) => {
      await page.show("interactions");
      await page.getByRole("combobox", { name: "Tag" }).click();
      await page.getByRole("listbox").getByRole("option").first().waitFor();
    },
  },
  stories: {
    "appear as they happen, wait while paused, and resume": async (page, { api, tags }) => {
      await page.show("interactions");
      const row = (id) => page.locator(`a[href$="interactions/${id}"]`);
      await api.tap(tags[0].slug);
      const live = await newest(api);
      await row(live.id).waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await api.tap(tags[0].slug);
      await api.tap(tags[1].slug);
      await page.getByRole("button", { name: "Resume (2 new)" }).waitFor();
      const held = await newest(api);
      assert.equal(await row(held.id).count(), 0);
      await page.getByRole("button", { name: "Resume (2 new)" }).click();
      await row(held.id).waitFor();
    },
    "say in wide windows which experience they led to and how they were scanned, and drop columns in narrow ones": async (
      page,
      { api },
    ) => {
      const { items } = await api.get("/interactions?limit=20");
      const scanned = items.find((one) => one.tech === "q" && one.experience_id !== null);
      const { name } = await api.get(`/experiences/${scanned.experience_id}`);
      const columns = async () => (await page.getByRole("columnheader").allInnerTexts()).map((one) => one.trim());
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.show("interactions");
      const row = page.locator(`[data-row="${scanned.id}"]`);
      await row.getByText(name, { exact: true }).waitFor();
      await row.getByText("QR code", { exact: true }).waitFor();
      assert.deepEqual(await columns(), ["State", "Tag", "Experience", "Scanned", "Country", "No.", "Time"]);
      await page.setViewportSize({ width: 1024, height: 700 });
      assert.deepEqual(await columns(), ["State", "Tag", "Experience", "Scanned", "Time"]);
    },
    "that a filter hides do not count as new": async (page, { api, tags }) => {
      const [shown, hidden] = tags.filter((tag) => tag.has_qr_code && tag.status === "active");
      await page.show(`interactions?tag=${shown.id}`);
      await page.keyboard.press("j");
      // Each count that is shown, however short.
      await page.evaluate(() => {
        globalThis.counts = new Set();
        const note = () => document.querySelectorAll(".waiting").forEach((one) => globalThis.counts.add(one.textContent.trim()));
        new MutationObserver(note).observe(document.body, { childList: true, characterData: true, subtree: true });
      });
      for (const tag of [hidden, hidden, hidden, shown]) await api.tap(tag.slug);
      const { id } = await newest(api);
      await page.getByRole("button", { name: /new$/ }).click();
      await page.locator(`a[href*="interactions/${id}"]`).waitFor();
      assert.deepEqual(await page.evaluate(() => [...globalThis.counts]), ["1 new"]);
      await page.getByRole("button", { name: "Pause" }).click();
      for (const tag of [hidden, shown, shown]) await api.tap(tag.slug);
      await page.getByRole("button", { name: "Resume (2 new)" }).waitFor();
    },
    "are narrowed to one tag and one state": async (page, { tags }) => {
      const posters = tags.filter((tag) => tag.has_qr_code && tag.status === "active");
      await page.show("interactions");
      await page.getByRole("combobox", { name: "Tag" }).fill(posters[0].name);
      await page.getByRole("option", { name: new RegExp(posters[0].slug) }).click();
      await page.waitForFunction((name) => {
        const shown = [...document.querySelectorAll("[data-row] .tag")].map((one) => one.textContent);
        return shown.length > 0 && shown.every((one) => one === name);
      }, posters[0].name);
      await narrow(page, "State", "Verified");
      await page.getByText("No tap matches").waitFor();
      await page.getByRole("button", { name: "Show all taps" }).click();
      await page.getByRole("grid", { name: "Interactions" }).waitFor();
    },
    "are narrowed to one chip from its pane, until the filter is removed": async (page, { api }) => {
      const [verified] = (await api.get("/interactions?verification=verified&limit=1")).items;
      const { id, uid } = await api.get(`/inlays/${verified.inlay_id}`);
      const own = (await api.get(`/interactions?uid=${uid}&limit=500`)).items.map((tap) => String(tap.id));
      const only = (expected) =>
        page.waitForFunction(
          ([own, expected]) => {
            const shown = [...document.querySelectorAll("[data-row]")].map((one) => one.dataset.row);
            return shown.length > 0 && shown.every((one) => own.includes(one)) === expected;
          },
          [own, expected],
        );
      await page.show(`inlays/${id}`);
      await page.getByRole("link", { name: "Taps of this chip" }).click();
      await page.getByRole("button", { name: `UID: ${uid}` }).waitFor();
      await only(true);
      await page.getByRole("button", { name: "Remove filter UID" }).click();
      await only(false);
    },
    "are all shown again, whatever they were narrowed to": async (page) => {
      for (const filter of ["verification=not_checked&tamper=open", "missed=true&tamper=sealed"]) {
        await page.show(`interactions?${filter}`);
        await page.getByText("No tap matches").waitFor();
        await page.getByRole("button", { name: "Show all taps" }).click();
        await page.getByRole("grid", { name: "Interactions" }).waitFor();
      }
    },
    "are exported with the filters, and stopping saves nothing": async (page, { api }) => {
      await page.show("interactions?verification=not_checked");
      await page.getByRole("grid", { name: "Interactions" }).getByRole("row").first().waitFor();
      const save = async () => {
        await page.getByRole("button", { name: "Export interactions" }).click();
        await page.getByRole("menuitem", { name: "CSV…" }).click();
      };
      const [download] = await Promise.all([page.waitForEvent("download"), save()]);
      const rows = (await readFile(await download.path(), "utf8")).trim().split("\r\n").slice(1);
      const { items } = await api.get("/interactions?verification=not_checked&limit=500");
      assert.equal(rows.length, items.length);
      await page.getByText(`${rows.length.toLocaleString("en")} interactions exported.`).waitFor();
      // An answer that does not end.
      await page.route("**/admin/v1/interactions/export*", () => {});
      await save();
      await page.getByText("Exporting interactions").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("Export stopped. Nothing was saved.").waitFor();
    },
    "have what is kept of their visitor exported and erased": async (page, { api, tags }) => {
      const twin = await api.post("/simulator/inlays", { tag_id: tags[0].id });
      const tap = async () => (await api.post(`/simulator/inlays/${twin.id}/tap`, { follow: true })).followed.interaction_id;
      // The first one was made without a cookie, perhaps by somebody else with the same phone.
      const [, held] = [await tap(), await tap()];
      await page.show(`interactions/${held}`);
      await page.getByRole("button", { name: "View visitor data" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("1 tap of this visitor").waitFor();
      const [download] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Export…" }).click()]);
      assert.equal(download.suggestedFilename(), `visitor-of-tap-${held}.json`);
      const document = JSON.parse(await readFile(await download.path(), "utf8"));
      assert.deepEqual(
        document.interactions.map(({ id }) => id),
        [held],
      );
      await dialog.getByRole("button", { name: "Erase data of 1 tap" }).click();
      await page.getByText("Visitor data of 1 tap erased.").waitFor();
      assert.equal((await api.get(`/interactions/${held}/visitor`)).interactions, 0);
      await page.getByRole("button", { name: "View visitor data" }).click();
      await page.getByText("Ask the person to tap the tag again").waitFor();
    },
    "show a form that failed, and why": async (page, { api }) => {
      const fields = [{ label: "Your name", kind: "text", variable: "nickname", required: true }];
      const blocks = [{ type: "form", fields, submit_label: "Send" }];
      const { id } = await api.post("/experiences", { name: "Ask for a nickname", kind: "studio", blocks });
      const tag = await api.post("/tags", { name: "Without a nickname", experience_id: id, add_variables: false });
      const rk = await api.form(tag.slug);
      assert.equal(await api.update(rk, { nickname: "Jo" }), 400);
      await page.show(`interactions/${(await newest(api)).id}`);
      await page.getByText("refused: the tag has no variable nickname").waitFor();
      // What was entered is not lost.
      const form = page.getByRole("region", { name: "Form not saved" });
      await form.getByText("Jo", { exact: true }).waitFor();
      await form.getByRole("button", { name: "Add variable and save" }).click();
      await page.getByText("Entry saved.").waitFor();
      await form.waitFor({ state: "hidden" });
      assert.equal((await api.get(`/tags/${tag.id}`)).variables.nickname, "Jo");
    },
    "show what an update with their key did, and contain no key of others' taps": async (page, { api }) => {
      const { items } = await api.get("/interactions?limit=50");
      const traced = await Promise.all(items.map(({ id }) => api.get(`/interactions/${id}`)));
      const updated = traced.find((one) => one.update);
      await page.show(`interactions/${updated.id}`);
      const inspector = page.getByLabel("Selected interaction");
      await inspector.getByText("consumed by an update").waitFor();
      // Code is for those who write pages: it is shown to nobody who did not ask.
      assert.doesNotMatch(await inspector.innerText(), /curl|rk_payload/);
      await inspector.getByText("Technical: the calls of your page").click();
      const text = await inspector.innerText();
      assert.match(text, /registered: false → true/);
      assert.match(text, /rk_payload' \\\n *--data-urlencode 'rk='"\$RK"/);
      for (const [language, read] of [
        ["JavaScript", "process.env.RK"],
        ["Python", 'os.environ["RK"]'],
        ["PHP", "getenv('RK')"],
      ]) {
        await inspector.getByRole("tab", { name: language, exact: true }).click();
        await inspector.getByText(read).first().waitFor();
      }
    },
  },
});
