// Tags that come from files, and go into them.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { select } from "./browser.mjs";
import { group } from "./suite.mjs";

const csv = (text) => ({ name: "tags.csv", mimeType: "text/csv", buffer: Buffer.from(text) });

const importing = async (page) => {
  await page.show("tags");
  await page.getByRole("button", { name: "Import…" }).click();
  await page
    .getByLabel("CSV file")
    .setInputFiles(csv("Product;Colour;code\nOne;red;imported-1\n;blue;imported-2\nThree;green;imported-3\n"));
};

const count = (api, query) => api.get(`/tags?count=true&limit=1&${query}`).then((page) => page.count);

group("Files of tags", {
  states: {
    "an import that was checked": async (page) => {
      await importing(page);
      await page.getByLabel("Import Product as").selectOption("name");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("1 row cannot").waitFor();
    },
  },
  stories: {
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
    "are imported while other screens are shown, and go on where they failed": async (page, { api }) => {
      const rows = Array.from({ length: 2_500 }, (_, index) => `Long ${index},long-${String(index).padStart(6, "0")}`);
      let go;
      const late = new Promise((held) => (go = held));
      let pieces = 0;
      await page.route("**/admin/v1/tags/import?*", async (route) => {
        pieces++;
        if (pieces === 2) await late;
        if (pieces === 2)
          await route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"detail":"The disk is full."}' });
        else await route.continue();
      });
      await page.show("tags");
      await page.getByRole("button", { name: "Import…" }).click();
      await page.getByLabel("CSV file").setInputFiles(csv(`name,slug\n${rows.join("\n")}\n`));
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByRole("button", { name: "Continue in the background" }).click();
      await page.getByRole("group", { name: "Importing tags.csv" }).getByText("1,000 of 2,500").waitFor();
      await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Experiences", exact: true }).click();
      await page.getByRole("heading", { name: "Experiences" }).waitFor();
      go();
      await page.getByText("1,000 tags created. The import of tags.csv ended early.").waitFor();
      await page.getByRole("button", { name: "Show result" }).click();
      await page.getByText("It ended before row 1,002 of the file. The disk is full.").waitFor();
      assert.equal(await count(api, "q=long-"), 1_000);
      await page.getByRole("button", { name: "Import the rest" }).click();
      await page.getByText("2,500 rows imported.").waitFor();
      assert.equal(await count(api, "q=long-"), 2_500);
      await api.post("/tags/bulk", { action: "delete", select: { filter: { q: "long-" } } });
    },
    "take the same file again once it is fixed": async (page) => {
      await importing(page);
      await page.getByText("3 rows").first().waitFor();
      assert.equal(await page.getByLabel("CSV file").inputValue(), "");
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
