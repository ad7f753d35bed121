import assert from "node:assert/strict";
import { choose, narrow, select } from "./browser.mjs";
import { group } from "./suite.mjs";

const count = (api, query) => api.get(`/tags?count=true&limit=1&${query}`).then((page) => page.count);

group("Tags", {
  states: {
    list: (page) => page.show("tags"),
    "narrowed by a filter": (page) => page.show("tags?status=archived"),
    "the menu of filters": async (page) => {
      await page.show("tags");
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await page.getByRole("menuitem", { name: "Experience" }).click();
      await page.getByRole("menuitemradio", { name: "Not set up" }).waitFor();
    },
    selection: async (page) => {
      await page.show("tags");
      await select(page, "Bottle 48", "Lamp 47");
      await page.getByText("2 tags selected").waitFor();
    },
    "the new tag": async (page) => {
      await page.show("tags");
      await page.getByRole("button", { name: "New tag" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "are searched, filtered and sorted, and the address says so": async (page) => {
      await page.show("tags");
      await page.getByLabel("Search tags").fill("crate");
      await page.getByText("Crate 41").waitFor();
      await page.getByText("Bottle 48").waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Order: Newest first" }).click();
      await page.getByRole("menuitemradio", { name: "By name", exact: true }).click();
      await narrow(page, "Status", "Archived");
      assert.match(page.url(), /q=crate&sort=name&status=archived/);
      await page.getByText("Crate 41").waitFor({ state: "hidden" });
      await page.reload();
      await page.getByText("Crate 33").waitFor();
      assert.equal(await page.getByLabel("Search tags").inputValue(), "crate");
      await page.getByRole("button", { name: "Status: Archived" }).click();
      await page.getByRole("menuitemradio", { name: "Active", exact: true }).click();
      await page.getByText("Crate 41").waitFor();
      assert.match(page.url(), /status=active/);
      await page.getByRole("button", { name: "Remove filter Status" }).click();
      await page.getByText("Crate 33").waitFor();
      assert.doesNotMatch(page.url(), /status/);
    },
    "are filtered with the keyboard only": async (page) => {
      await page.show("tags");
      await page.getByText("Bottle 48").waitFor();
      await page.keyboard.press("f");
      await page.getByRole("menuitem", { name: "Status" }).waitFor();
      await page.keyboard.press("s");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Status: Archived" }).waitFor();
      await page.getByText("Bottle 48").waitFor({ state: "hidden" });
    },
    "are archived together, with undo": async (page, { api }) => {
      await page.show("tags");
      const before = await count(api, "status=archived");
      await select(page, "Bottle 48", "Lamp 47");
      await page.getByRole("button", { name: "Archive" }).click();
      await page.getByText("2 tags archived.").waitFor();
      assert.equal(await count(api, "status=archived"), before + 2);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await count(api, "status=archived"), before);
    },
    "are assigned by a menu, through which an arrow key only moves": async (page, { api }) => {
      const { experience_id: before } = (await api.get("/tags?q=Bottle 48")).items[0];
      const { id, name } = await api.post("/experiences", { name: "Aardvark", kind: "redirect", target_url: "https://example.com/" });
      await page.show("tags");
      await select(page, "Bottle 48");
      await page.getByRole("button", { name: "Assign an experience" }).press("Enter");
      await page.getByRole("menuitem", { name }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Escape");
      assert.equal((await api.get("/tags?q=Bottle 48")).items[0].experience_id, before);
      await choose(page, "Assign an experience", name);
      await page.getByText("Bottle 48 assigned.").waitFor();
      assert.equal((await api.get("/tags?q=Bottle 48")).items[0].experience_id, id);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
    },
    "that others assigned again stay so, when the first assignment is undone": async (page, { api }) => {
      const [bottle] = (await api.get("/tags?q=Bottle 48")).items;
      const [lamp] = (await api.get("/tags?q=Lamp 47")).items;
      const redirect = (name) => api.post("/experiences", { name, kind: "redirect", target_url: "https://example.com/" });
      const [mine, theirs] = [await redirect("Abacus"), await redirect("Abbey")];
      const assigned = async ({ id }) => (await api.get(`/tags/${id}`)).experience_id;
      await page.show("tags");
      await select(page, "Bottle 48", "Lamp 47");
      await choose(page, "Assign an experience", mine.name);
      await page.getByText("2 tags assigned.").waitFor();
      await api.patch(`/tags/${bottle.id}`, { experience_id: theirs.id });
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await page.getByText("1 tag changed again since and keeps its new value.").waitFor();
      assert.equal(await assigned(bottle), theirs.id);
      assert.equal(await assigned(lamp), lamp.experience_id);

      await select(page, "Bottle 48");
      await choose(page, "Assign an experience", mine.name);
      await page.getByText("Bottle 48 assigned.").waitFor();
      await api.patch(`/tags/${bottle.id}`, { experience_id: bottle.experience_id });
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await page.getByRole("alert").getByText("Nothing was undone. 1 tag changed again since and keeps its new value.").waitFor();
      assert.equal(await assigned(bottle), bottle.experience_id);
    },
    "are selected by the number that the list shows now, not the one before": async (page, { api }) => {
      await page.show("tags");
      const all = await count(api, "");
      await select(page, "Bottle 48");
      await page.getByRole("button", { name: `Select all ${all}` }).waitFor();
      // The number of the next question is late.
      let answer;
      const late = new Promise((held) => (answer = held));
      await page.route("**/admin/v1/tags?*count=true*", async (route) => {
        await late;
        await route.continue();
      });
      await page.getByLabel("Search tags").fill("guitar");
      await page.getByText("Bottle 48").waitFor({ state: "hidden" });
      await select(page, "Guitar 46");
      assert.equal(await page.getByRole("button", { name: /Select all/ }).count(), 0);
      answer();
      await page.getByRole("button", { name: `Select all ${await count(api, "q=guitar")}` }).waitFor();
    },
    "of another number than was shown are left as they are": async (page, { api }) => {
      await page.show("tags?q=watch");
      await select(page, "Watch 45");
      await page.getByRole("button", { name: /Select all/ }).click();
      const archived = await count(api, "status=archived");
      const { id } = await api.post("/tags", { name: "Watch, one more" });
      await page.getByRole("button", { name: "Archive" }).click();
      await page
        .getByRole("alert")
        .getByText(/Nothing was changed/)
        .waitFor();
      assert.equal(await count(api, "status=archived"), archived);
      await api.patch(`/tags/${id}`, { name: "Another thing" });
    },
    "beyond some hundreds ask with their number, show how far it is, stop, and are taken back": async (page, { api }) => {
      const rows = Array.from({ length: 320 }, (_, index) => `Many ${index},many-${String(index).padStart(4, "0")}`);
      await api.csv("/tags/import", `name,slug\n${rows.join("\n")}\n`);
      const archived = () => count(api, "q=many-&status=archived");
      // Small pieces, and the second one is late.
      let go;
      const late = new Promise((held) => (go = held));
      let pieces = 0;
      await page.route("**/admin/v1/tags/bulk", async (route) => {
        if (++pieces === 2) await late;
        await route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), limit: 100 }) });
      });
      await page.show("tags?q=many-&sort=name");
      await select(page, "Many 0");
      await page.getByRole("button", { name: "Select all 320" }).click();
      await page.getByRole("button", { name: "Archive" }).click();
      await page.getByRole("dialog", { name: "Archive 320 tags?" }).getByRole("button", { name: "Archive 320 tags" }).click();
      await page.getByText("Archiving tags: 100 of 320").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      go();
      await page.getByText("200 tags archived.").waitFor();
      await page.getByRole("alert").getByText("Stopped. The remaining tags are unchanged.").waitFor();
      assert.equal(await archived(), 200);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.equal(await archived(), 0);
      await api.post("/tags/bulk", { action: "delete", select: { filter: { q: "many-" } } });
    },
    "leave their buttons free of notices": async (page) => {
      const apart = async (button) => {
        await button.click({ trial: true });
        const [one, other] = await Promise.all([button.boundingBox(), page.locator(".notice").last().boundingBox()]);
        const [beside, above] = [other.x >= one.x + one.width || other.x + other.width <= one.x, other.y + other.height <= one.y];
        assert.ok(beside || above || other.y >= one.y + one.height, `${JSON.stringify(one)} is under ${JSON.stringify(other)}`);
      };
      await page.show("tags");
      await select(page, "Bottle 48", "Lamp 47");
      await page.getByRole("button", { name: "Archive" }).click();
      await page.getByText("2 tags archived.").waitFor();
      await select(page, "Bottle 48");
      await apart(page.getByRole("button", { name: "Delete" }));
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
    },
    "are deleted, and restored from among the deleted": async (page, { api }) => {
      await page.show("tags?q=guitar");
      const before = await count(api, "q=guitar");
      await select(page, "Guitar 46");
      await page.getByRole("button", { name: /Select all/ }).click();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByText("No tag matches").waitFor();
      assert.equal(await count(api, "q=guitar"), 0);
      await narrow(page, "Status", "Deleted");
      await select(page, "Guitar 46");
      await page.getByRole("button", { name: /Select all/ }).click();
      await page.getByRole("button", { name: "Restore" }).click();
      await page.getByText(/restored/).waitFor();
      assert.equal(await count(api, "q=guitar"), before);
    },
  },
});
