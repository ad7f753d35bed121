import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { settled } from "./browser.mjs";
import { group } from "./suite.mjs";

const part = (name) => async (page, { tags }) => {
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
  await page.getByLabel("CSV file").setInputFiles(csv("Product;Colour;code\nOne;red;imported-1\n;blue;imported-2\nThree;green;imported-3\n"));
};

const count = (api, query) => api.get(`/tags?count=true&limit=1&${query}`).then((page) => page.count);

group("Tags", {
  states: {
    list: (page) => page.show("tags"),
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
    "an inlay to be added": async (page, world) => {
      await part("Inlay & QR")(page, world);
      await page.getByRole("button", { name: "Add an inlay…" }).click();
      await page.getByLabel("File key").waitFor();
    },
    "an import that was checked": async (page) => {
      await importing(page);
      await page.getByLabel("What Product becomes").selectOption("name");
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
      await page.getByLabel("Order").selectOption("name");
      await page.getByLabel("Status").selectOption("archived");
      assert.match(page.url(), /q=crate&sort=name&status=archived/);
      await page.getByText("Crate 41").waitFor({ state: "hidden" });
      await page.reload();
      await page.getByText("Crate 33").waitFor();
      assert.equal(await page.getByLabel("Search tags").inputValue(), "crate");
    },
    "are archived together, and taken back with undo": async (page, { api }) => {
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
    "are deleted, and brought back from among the deleted": async (page, { api }) => {
      await page.show("tags?q=guitar");
      const before = await count(api, "q=guitar");
      await select(page, "Guitar 46");
      await page.getByRole("button", { name: /Select all/ }).click();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByText("No tag matches").waitFor();
      assert.equal(await count(api, "q=guitar"), 0);
      await page.getByLabel("Status").selectOption("deleted");
      await select(page, "Guitar 46");
      await page.getByRole("button", { name: /Select all/ }).click();
      await page.getByRole("button", { name: "Bring back" }).click();
      await page.getByText(/brought back/).waitFor();
      assert.equal(await count(api, "q=guitar"), before);
    },
    "are imported by columns that were named, with a result for each row": async (page, { api }) => {
      await importing(page);
      await page.getByText("No column becomes the name yet.").waitFor();
      assert.ok(await page.getByRole("button", { name: "Check" }).isDisabled());
      await page.getByLabel("What Product becomes").selectOption("name");
      await page.getByLabel("What Colour becomes").selectOption("data:Colour");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("2 rows can be imported, 1 row cannot").waitFor();
      await page.getByText("Row 3").waitFor();
      assert.equal(await count(api, "q=imported-"), 0);
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("2 rows imported, 1 row cannot").waitFor();
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
      await page.getByLabel("CSV file").setInputFiles(csv("slug,title,variable:owner,variable:city,experience\njug-000001,,(delete),,Nowhere\n"));
      await page.getByLabel("Where a tag has the address already").selectOption("upsert");
      await page.getByText("An empty cell changes nothing.").waitFor();
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("There is no experience named").first().waitFor();
      await page.getByLabel("If an experience does not exist").selectOption("ignore");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("1 value of tags would be deleted.").waitFor();
      await page.getByText("Deletes: variable:owner.").waitFor();
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
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /Watch 45/);
      assert.doesNotMatch(text, /Bottle/);
    },
    "are encoded together, with a warning for an address of this computer": async (page) => {
      await page.show("tags");
      await select(page, "Bottle 48", "Lamp 47");
      await page.getByRole("button", { name: "Encoding sheet…" }).click();
      await page.getByText("leads to this computer alone").waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save CSV…" }).click();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /"Bottle 48","bottle-048","http:\/\/127.0.0.1:\d+\/t\/bottle-048\?uid=0{14}&token=0{22}"/);
    },
  },
});

group("A tag", {
  stories: {
    "is saved, and taken back with undo": async (page, { api, tags }) => {
      const { id, name } = tags[0];
      await page.show(`tags/${id}`);
      await page.getByLabel("Name", { exact: true }).fill("Renamed");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: "Renamed" }).waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("heading", { name }).waitFor();
      assert.equal((await api.get(`/tags/${id}`)).name, name);
    },
    "refuses an address that another has, in words where it happens": async (page, { tags }) => {
      await page.show(`tags/${tags[0].id}`);
      await page.getByRole("textbox", { name: "Address" }).fill(tags[1].slug);
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
      assert.equal((await api.get(`/tags/${tags[2].id}`)).variables.warranty, "none");
    },
    "that is printed offers to say so where its inlay makes codes": async (page, { api }) => {
      const [inlay] = (await api.get("/inlays?limit=1")).items;
      await page.show(`tags/${inlay.tag_id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      await page.getByRole("button", { name: "Save SVG…" }).click();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Mark as printed" }).click();
      assert.match(await readFile(await (await saved).path(), "utf8"), /^<svg/);
      assert.equal((await api.get(`/tags/${inlay.tag_id}`)).has_qr_code, true);
    },
    "has a place, which can be taken away again": async (page, { api, tags }) => {
      await page.show(`tags/${tags[3].id}`);
      await page.getByRole("tab", { name: "Location" }).click();
      await page.getByLabel("Street and number").fill("Hauptstraße 3");
      await page.getByLabel("Latitude").fill("48.4");
      await page.getByRole("button", { name: "Save location" }).click();
      await page.getByText("The location is saved.").waitFor();
      const { location } = await api.get(`/tags/${tags[3].id}`);
      assert.equal(location.lat, 48.4);
      await page.getByRole("button", { name: "Remove location" }).click();
      await page.getByText("The location is removed.").waitFor();
      assert.equal((await api.get(`/tags/${tags[3].id}`)).location, null);
    },
  },
});
