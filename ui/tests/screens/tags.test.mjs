import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { narrow, settled } from "./browser.mjs";
import { group } from "./suite.mjs";

const part =
  (name) =>
  async (page, { tags }) => {
    await page.show(`tags/${tags[46].id}`);
    await page.getByRole("tab", { name }).click();
    await settled(page);
  };

const select = async (page, ...names) => {
  for (const name of names) await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
};

const csv = (text) => ({ name: "tags.csv", mimeType: "text/csv", buffer: Buffer.from(text) });

const importing = async (page) => {
  await page.show("tags");
  await page.getByRole("button", { name: "Import…" }).click();
  await page
    .getByLabel("CSV file")
    .setInputFiles(csv("Product;Colour;code\nOne;red;imported-1\n;blue;imported-2\nThree;green;imported-3\n"));
};

const count = (api, query) => api.get(`/tags?count=true&limit=1&${query}`).then((page) => page.count);

group("Tags", {
  states: {
    list: (page) => page.show("tags"),
    "narrowed by a filter": (page) => page.show("tags?status=archived&world=all"),
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
    details: part("Details"),
    properties: part("Properties"),
    "inlay and QR code": part("Inlay & QR"),
    "the encoding sheet": async (page, world) => {
      await part("Inlay & QR")(page, world);
      await page.getByText("Encoding sheet for").click();
    },
    location: part("Location"),
    taps: part("Taps"),
    "a long name": (page, { tags }) => page.show(`tags/${tags[39].id}`),
    "the new tag": async (page) => {
      await page.show("tags");
      await page.getByRole("button", { name: "New tag" }).click();
      await page.getByRole("dialog").waitFor();
    },
    "an inlay to be edited": async (page, world) => {
      await part("Inlay & QR")(page, world);
      await page.getByRole("button", { name: "Edit…" }).click();
      await page.getByRole("dialog").getByLabel("MAC input", { exact: true }).waitFor();
    },
    "an inlay to be added": async (page, world) => {
      await part("Inlay & QR")(page, world);
      await page.getByRole("button", { name: "Add inlay…" }).click();
      await page.getByLabel("File key").waitFor();
    },
    "an import that was checked": async (page) => {
      await importing(page);
      await page.getByLabel("Import Product as").selectOption("name");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("1 row cannot").waitFor();
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
        const [one, other] = await Promise.all([button.boundingBox(), page.locator(".notice").last().boundingBox()]);
        assert.ok(other.y >= one.y + one.height, `${JSON.stringify(one)} is under ${JSON.stringify(other)}`);
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
    "are imported by columns that were named, with a result for each row": async (page, { api }) => {
      await importing(page);
      await page.getByText("Choose the column to import as name.").waitFor();
      assert.ok(await page.getByRole("button", { name: "Check" }).isDisabled());
      await page.getByLabel("Import Product as").selectOption("name");
      await page.getByLabel("Import Colour as").selectOption("data:Colour");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("2 rows can be imported, 1 row cannot").waitFor();
      await page.getByText("Row 3").waitFor();
      assert.equal(await count(api, "q=imported-"), 0);
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("2 rows imported, 1 row refused").waitFor();
      const { items } = await api.get("/tags?q=imported-1");
      assert.deepEqual(items[0].data, { Colour: "red" });
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save refused rows…" }).click();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /"blue","imported-2","/);
      assert.doesNotMatch(text, /imported-1/);
    },
    "are imported again by rules for empty cells, and what is deleted is shown before": async (page, { api }) => {
      await api.post("/tags", { name: "Jug", slug: "jug-000001", title: "A jug", variables: { owner: "Ann", city: "Bern" } });
      await page.show("tags");
      await page.getByRole("button", { name: "Import…" }).click();
      await page
        .getByLabel("CSV file")
        .setInputFiles(csv("slug,title,variable:owner,variable:city,experience\njug-000001,,(delete),,Nowhere\n"));
      await page.getByLabel("If a tag has the slug already").selectOption("upsert");
      await page.getByText("An empty cell changes nothing.").waitFor();
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("There is no experience named").first().waitFor();
      await page.getByLabel("If an experience does not exist").selectOption("ignore");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("1 value of tags would be deleted.").waitFor();
      await page.getByText("Deletes variable:owner.").waitFor();
      const before = (await api.get("/tags?q=jug-000001")).items[0];
      assert.deepEqual(before.variables, { owner: "Ann", city: "Bern" });
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("1 value of tags deleted.").waitFor();
      const after = (await api.get("/tags?q=jug-000001")).items[0];
      assert.deepEqual([after.title, after.variables], ["A jug", { city: "Bern" }]);
    },
    "are exported as the list shows them": async (page) => {
      await page.show("tags?q=watch");
      await page.getByText("Watch 45").waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export…" }).click();
      await page.getByText(/^\d+ tags exported\.$/).waitFor();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /Watch 45/);
      assert.doesNotMatch(text, /Bottle/);
    },
    "are encoded together, with a warning for an address of this computer": async (page) => {
      await page.show("tags");
      await select(page, "Bottle 48", "Lamp 47");
      await page.getByRole("button", { name: "Encoding sheet…" }).click();
      await page.getByText("works only on this computer").waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save CSV…" }).click();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /"Bottle 48","bottle-048","http:\/\/127.0.0.1:\d+\/t\/bottle-048\?uid=0{14}&token=0{22}"/);
    },
  },
});

group("A tag", {
  stories: {
    "begins with its state, its URL with a QR code, and its last verdict, which follows each tap": async (page, { api, ui, tags }) => {
      const { id, name, slug } = tags.find((tag) => tag.has_qr_code && tag.status === "active");
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.show(`tags/${id}`);
      const pane = page.getByLabel("Selected tag");
      const verdict = pane.getByRole("link", { name: /^(not )?(verified|checked)/ });
      await verdict.waitFor();
      const text = await pane.innerText();
      const order = [name, "active", `${ui.service}/t/${slug}`, "not checked", "Details"].map((part) => text.indexOf(part));
      assert.ok(order[0] >= 0 && order.every((at, index) => index === 0 || at > order[index - 1]), `${order} in ${text}`);
      await pane.getByRole("button", { name: "Copy URL" }).click();
      await page.getByText(`Copied the URL of ${name}.`).waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${ui.service}/t/${slug}`);
      const before = await verdict.getAttribute("href");
      await api.tap(slug);
      await page.waitForFunction(
        (former) => ![...document.querySelectorAll("aside a")].some((one) => one.getAttribute("href") === former),
        before,
      );
      await pane.getByRole("button", { name: "QR code" }).click();
      await pane.getByRole("heading", { name: "QR code" }).waitFor();
    },
    "is saved, with undo": async (page, { api, tags }) => {
      const { id, name } = tags[0];
      await page.show(`tags/${id}`);
      await page.getByLabel("Name", { exact: true }).fill("Renamed");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: "Renamed" }).waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("heading", { name }).waitFor();
      assert.equal((await api.get(`/tags/${id}`)).name, name);
    },
    "sends only what was edited, and keeps what others changed": async (page, { api, tags }) => {
      const { id } = tags[5];
      await page.show(`tags/${id}`);
      await page.getByLabel("Name", { exact: true }).fill("Mine");
      await api.post("/tags/bulk", { action: "status", status: "archived", select: { ids: [id] } });
      await api.patch(`/tags/${id}`, { title: "Theirs" });
      await page.waitForFunction(() => [...document.querySelectorAll("input")].some((one) => one.value === "Theirs"));
      assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Mine");
      const sent = page.waitForRequest((request) => request.method() === "PATCH");
      await page.getByRole("button", { name: "Save" }).click();
      assert.deepEqual((await sent).postDataJSON(), { name: "Mine" });
      await page.getByRole("heading", { name: "Mine" }).waitFor();
      const { name, title, status } = await api.get(`/tags/${id}`);
      assert.deepEqual({ name, title, status }, { name: "Mine", title: "Theirs", status: "archived" });
    },
    "shows another's change of the same field beside one's own": async (page, { api, tags }) => {
      const { id } = tags[6];
      await page.show(`tags/${id}`);
      const name = page.getByLabel("Name", { exact: true });
      await name.fill("Mine");
      await api.patch(`/tags/${id}`, { name: "Theirs" });
      await page.getByText("Changed to “Theirs” in the meantime.").waitFor();
      assert.equal(await name.inputValue(), "Mine");
      await page.getByRole("button", { name: "Use new value" }).click();
      assert.equal(await name.inputValue(), "Theirs");
      await name.fill("Mine again");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: "Mine again" }).waitFor();
    },
    "follows what a visitor writes, and keeps what is being typed": async (page, { api, tags }) => {
      const { id } = tags[7];
      await page.show(`tags/${id}`);
      await page.getByRole("tab", { name: "Properties" }).click();
      const owner = page.getByLabel("Value of owner");
      await api.put(`/tags/${id}/variables/owner`, { value: "Anna" });
      await page.waitForFunction((one) => one.value === "Anna", await owner.elementHandle());
      await owner.press("End");
      await owner.pressSequentially(" and Jo");
      await api.put(`/tags/${id}/variables/owner`, { value: "Ben" });
      await page.getByText("Changed to “Ben” in the meantime.").waitFor();
      assert.equal(await owner.inputValue(), "Anna and Jo");
      await owner.press("Tab");
      assert.equal((await api.get(`/tags/${id}`)).variables.owner, "Ben");
      await page.getByRole("button", { name: "Save properties" }).click();
      await page.getByText("Properties saved.").waitFor();
      await page.getByText("Changed to").waitFor({ state: "hidden" });
      assert.equal((await api.get(`/tags/${id}`)).variables.owner, "Anna and Jo");
    },
    "that lacks what a page writes says so before it is assigned, and gets it in one click": async (page, { api, tags }) => {
      const fields = [{ label: "Serial number", kind: "text", variable: "serial", required: true }];
      const blocks = [{ type: "form", fields, submit_label: "Send" }];
      const experience = await api.post("/experiences", { name: "Ask for a serial number", kind: "studio", blocks });
      const { id } = tags[8];
      await page.show(`tags/${id}`);
      await page.getByRole("tabpanel").getByLabel("Experience", { exact: true }).selectOption("Ask for a serial number");
      await page.getByText("The page writes the variable serial, which this tag does not have").waitFor();
      await page.getByRole("button", { name: "Add variable" }).click();
      await page.getByText("The page writes").waitFor({ state: "hidden" });
      assert.equal((await api.get(`/tags/${id}`)).variables.serial, "");
      await api.patch(`/tags/${id}`, { experience_id: experience.id });
    },
    "keeps its former slugs, says what a new one means, and releases them": async (page, { api }) => {
      const { id, slug } = await api.post("/tags", { name: "Twice printed", slug: "first-print" });
      await page.show(`tags/${id}`);
      await page.getByRole("textbox", { name: "Slug" }).fill("second-print");
      await page.getByText(`prints with “${slug}” keep working`).waitFor();
      await page.getByRole("button", { name: "Save" }).click();
      const former = page.getByRole("region", { name: "Former slugs" });
      await former.getByText(slug).waitFor();
      await former.getByRole("button", { name: "Release…" }).click();
      await page.getByRole("button", { name: "Release slug" }).click();
      await former.waitFor({ state: "hidden" });
      assert.deepEqual((await api.get(`/tags/${id}`)).former_slugs, []);
    },
    "says at a field what is wrong with it": async (page, { tags }) => {
      await page.show(`tags/${tags[0].id}`);
      const language = page.getByLabel("Language");
      await language.fill("German, I think");
      await page.getByRole("button", { name: "Save" }).click();
      const error = page.locator(".field", { has: language }).getByRole("alert");
      await error.waitFor();
      assert.equal(await language.getAttribute("aria-invalid"), "true");
      assert.equal(await page.getByText(await error.textContent()).count(), 1);
      assert.equal(await language.inputValue(), "German, I think");
      await page.getByRole("button", { name: "Discard changes" }).click();
      await error.waitFor({ state: "hidden" });
    },
    "refuses a slug of another tag, with the reason beside the form": async (page, { tags }) => {
      await page.show(`tags/${tags[0].id}`);
      await page.getByRole("textbox", { name: "Slug" }).fill(tags[1].slug);
      await page.getByRole("button", { name: "Save" }).click();
      const alert = page.locator("form [role=alert]");
      await alert.waitFor();
      assert.match(await alert.textContent(), new RegExp(tags[1].slug));
    },
    "gets variables with default values": async (page, { api, tags }) => {
      await page.show(`tags/${tags[2].id}`);
      await page.getByRole("tab", { name: "Properties" }).click();
      const variables = page.locator("section", { has: page.getByRole("heading", { name: /Variables/ }) });
      await variables.getByLabel("New key").fill("warranty");
      await variables.getByLabel("Default value").fill("none");
      await variables.getByRole("button", { name: "Add" }).click();
      await variables.getByLabel("Value of warranty").waitFor();
      await page.getByRole("button", { name: "Save properties" }).click();
      await page.getByText("Properties saved.").waitFor();
      assert.equal((await api.get(`/tags/${tags[2].id}`)).variables.warranty, "none");
    },
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
      const moved = await edit(() => page.getByRole("dialog").getByLabel("MAC input", { exact: true }).selectOption("uid"));
      assert.deepEqual([moved.mirror, moved.mac_from, moved.file_key_check], ["plain", "uid", before.file_key_check]);
      const changed = await edit(async () => {
        await page.getByRole("dialog").getByLabel("Mirror", { exact: true }).selectOption("encrypted");
        await page.getByLabel("Keys", { exact: true }).selectOption("own");
        await page.getByLabel("Meta key").fill(key);
        await page.getByLabel("File key").fill(key.split("").reverse().join(""));
      });
      assert.equal(changed.mirror, "encrypted");
      assert.notEqual(changed.file_key_check, before.file_key_check);
      const stopped = await edit(() => page.getByRole("dialog").getByLabel("Mirror", { exact: true }).selectOption(""));
      assert.equal(stopped.mirror, null);
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
      await page.getByRole("dialog").getByLabel("Mirror", { exact: true }).selectOption("");
      await api.patch(`/inlays/${id}`, { mac_from: "uid" });
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("alert").getByText("Somebody else changed this").waitFor();
      await page.getByText("Changed to “UID and counter in clear; MAC input: URL from uid on;").waitFor();
      assert.deepEqual(await stored(), ["plain", "uid"]);
      assert.equal(await page.getByRole("dialog").getByLabel("Mirror", { exact: true }).inputValue(), "");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("Inlay saved.").waitFor();
      assert.equal((await stored())[0], null);
    },
    "an inlay that somebody else bound to another tag stays there": async (page, { api }) => {
      const [first, second] = [await api.post("/tags", { name: "First" }), await api.post("/tags", { name: "Second" })];
      const { id } = await api.post("/inlays", { uid: "04E1D2C3B4A598", technology: "ntag213", tag_id: first.id });
      await page.show(`tags/${first.id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      const more = page.getByRole("button", { name: "More actions for inlay 04E1D2C3B4A598" });
      await more.click();
      const unbind = page.getByRole("menuitem", { name: "Unbind from the tag" });
      await unbind.waitFor();
      await api.patch(`/inlays/${id}`, { tag_id: second.id });
      await unbind.click();
      await more.waitFor({ state: "hidden" });
      assert.equal((await api.get(`/inlays/${id}`)).tag_id, second.id);
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
    "has a location, which can be removed again": async (page, { api, tags }) => {
      await page.show(`tags/${tags[3].id}`);
      await page.getByRole("tab", { name: "Location" }).click();
      await page.getByLabel("Street and number").fill("Hauptstraße 3");
      await page.getByLabel("Latitude").fill("48.4");
      await page.getByRole("button", { name: "Save location" }).click();
      await page.getByText("Location saved.").waitFor();
      const { location } = await api.get(`/tags/${tags[3].id}`);
      assert.equal(location.lat, 48.4);
      await page.getByRole("button", { name: "Remove location" }).click();
      await page.getByText("Location removed.").waitFor();
      assert.equal((await api.get(`/tags/${tags[3].id}`)).location, null);
    },
  },
});
