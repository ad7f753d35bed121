// Tags that come from files, and go into them.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { asksAgain, select } from "./browser.mjs";
import { group } from "./suite.mjs";

const csv = (text) => ({ name: "tags.csv", mimeType: "text/csv", buffer: Buffer.from(text) });

const importing = async (page) => {
  await page.show("tags");
  await page.getByRole("button", { name: "Import…" }).click();
  await page.getByLabel("CSV file").setInputFiles(csv("Piece;Colour;code\nOne;red;imported-1\n;blue;imported-2\nThree;green;imported-3\n"));
};

/** Chooses a file of these bytes in a new import. */
const choose = async (page, buffer) => {
  await page.show("tags");
  await page.getByRole("button", { name: "Import…" }).click();
  await page.getByLabel("CSV file").setInputFiles({ name: "tags.csv", mimeType: "text/csv", buffer });
};

const count = (api, query) => api.get(`/tags?count=true&limit=1&${query}`).then((page) => page.count);

group("Files of tags", {
  states: {
    "an import that was checked": async (page) => {
      await importing(page);
      await page.getByLabel("Import Piece as").selectOption("name");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("1 row cannot").waitFor();
    },
  },
  stories: {
    "are imported by columns that were named, with a result for each row": async (page, { api }) => {
      await importing(page);
      await page.getByText("Choose the column with the name of each tag.").waitFor();
      assert.ok(await page.getByRole("button", { name: "Check" }).isDisabled());
      await page.getByLabel("Import Piece as").selectOption("name");
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
      await page.getByText("It ended after row 1,001 of the file. The disk is full.").waitFor();
      assert.equal(await count(api, "q=long-"), 1_000);
      await page.getByRole("button", { name: "Import the rest" }).click();
      await page.getByText("2,500 rows imported.").waitFor();
      assert.equal(await count(api, "q=long-"), 2_500);
      await api.post("/tags/bulk", { action: "delete", select: { filter: { q: "long-" } } });
    },
    "are read by the service, whatever encoding and separator the file has": async (page, { api }) => {
      const utf16 = Buffer.from("\ufeffslug\tname\r\nscreen-0001\tK\u00e4se\r\n", "utf16le");
      await choose(page, utf16);
      await page.getByText("1 row", { exact: false }).first().waitFor();
      assert.equal(await page.getByLabel("Import name as").inputValue(), "name");
      await page.getByText("screen-0001").waitFor();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("1 row imported.").waitFor();
      assert.equal((await api.get("/tags?q=screen-0001")).items[0].name, "K\u00e4se");

      await page.getByRole("button", { name: "Import another file" }).click();
      const western = Buffer.from("slug;name;note\nscreen-0002;K\u00e4se;x\nscreen-0003;Brot;y\n", "latin1");
      await page.getByLabel("CSV file").setInputFiles({ name: "tags.csv", mimeType: "text/csv", buffer: western });
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("was read as Windows-1252").waitFor();
      await page.getByText("Columns that are not imported: note.").waitFor();
      await page.getByText("2 rows can be imported").waitFor();
    },
    "that a spreadsheet damaged are refused by their rows, in the words of the service": async (page, { api }) => {
      const rows = ["A,4.11223E+12,ntag213", "B,4112233445566,ntag213", "C,4.52123E+20,ntag213", "D,04A1B2C3D4E5F0,ntag213", "E,x"];
      await choose(page, Buffer.from(`name,uid,technology\r\n${rows.join("\r\n")}\r\n`));
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("1 row can be imported, 4 rows cannot").waitFor();
      await page.getByText("uid is a number in scientific notation").waitFor();
      await page.getByText("Rows 2 and 4").waitFor();
      await page.getByText("The row has 2 cells, the header 3.").waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save refused rows…" }).click();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /"A","4.11223E\+12","ntag213","uid is a number/);
      assert.match(text, /"E","x","","The row has 2 cells/);
      assert.equal(await count(api, "q=04A1B2C3D4E5F0"), 0);
    },
    "with counters that can be read in two ways are asked about": async (page, { api }) => {
      await choose(
        page,
        Buffer.from(
          "name,uid,technology,mirror,file_key,read counter\nTwo ways,04A1B2C3D4E5F1,ntag424dna,plain," + "1f".repeat(16) + ",21\n",
        ),
      );
      await page.getByLabel("Import read counter as").selectOption("last_counter");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("does not say how its counters are written").waitFor();
      await page.getByLabel("Counters of the file are").selectOption("hex");
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("1 row imported.").waitFor();
      assert.equal((await api.get("/inlays?uid=04A1B2C3D4E5F1")).items[0].last_counter, 33);
    },
    "with UIDs whose chips nothing names are asked about, for all rows or for some": async (page, { api }) => {
      await choose(page, Buffer.from("name,uid\nNo kind 1,04A1B2C3D4E601\nNo kind 2,04A1B2C3D4E602\nNo chip,\n"));
      const kind = page.getByLabel("Chips of the file are");
      await kind.waitFor();
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("does not say which chips they are.", { exact: false }).waitFor();
      assert.equal(await page.getByRole("dialog").getByText("url_template_id").count(), 0);
      assert.equal(await page.getByRole("alert").filter({ hasText: "chips" }).count(), 0);
      await kind.selectOption("NTAG213");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("3 rows can be imported").waitFor();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("3 rows imported.").waitFor();
      assert.equal((await api.get("/inlays?uid=04A1B2C3D4E602")).items[0].technology, "ntag213");

      // A template defines the chip, too.
      const again = async (name, ...rows) => {
        await page.getByRole("button", { name: "Import another file" }).click();
        await page.getByLabel("CSV file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(`${rows.join("\n")}\n`) });
        await page.getByText(name).waitFor();
      };
      const { id } = (await api.get("/url-templates")).items.find(({ name }) => name.startsWith("Stickers"));
      await again("template.csv", "name,uid,file_key", `No kind 3,04A1B2C3D4E603,${"1F".repeat(16)}`);
      await kind.selectOption({ value: `template ${id}` });
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("1 row imported.").waitFor();
      assert.equal((await api.get("/inlays?uid=04A1B2C3D4E603")).items[0].url_template_id, id);

      await again("some.csv", "name,uid,technology", "Own kind,04A1B2C3D4E604,ntag213", "No kind 4,04A1B2C3D4E605,");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("1 row can be imported, 1 row cannot").waitFor();
      await page.getByText("Some rows have a UID, but do not say which chip it is.").waitFor();
      await page.getByLabel("Chips of the other rows are").selectOption("NTAG216");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("2 rows can be imported").waitFor();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("2 rows imported.").waitFor();
      for (const [uid, technology] of [
        ["04A1B2C3D4E604", "ntag213"],
        ["04A1B2C3D4E605", "ntag216"],
      ])
        assert.equal((await api.get(`/inlays?uid=${uid}`)).items[0].technology, technology);
    },
    "have columns that are guessed from German, French and Spanish headings, in the owner's words": async (page, { api }) => {
      for (const [header, serial] of [
        ["Bezeichnung;Seriennummer;Farbe", "DE-1001"],
        ["Désignation;Numéro de série;Couleur", "FR-1002"],
        ["Nombre;Número de serie;Color", "ES-1003"],
      ]) {
        await choose(page, Buffer.from(`${header}\nGuessed ${header.split(";")[0]};${serial};red\n`));
        const [name, number, colour] = header.split(";");
        const chosen = (heading) => page.getByLabel(`Import ${heading} as`).locator("option:checked").textContent();
        await page.getByLabel(`Import ${name} as`).waitFor();
        assert.deepEqual([await chosen(name), await chosen(number)], ["Name", "Serial number"]);
        assert.equal(await chosen(colour), `“${colour}”, describes the thing`);
        await page.getByText("Identifies the thing. Only you can change it.").waitFor();
        await page.getByRole("button", { name: "Import", exact: true }).click();
        await page.getByText("1 row imported.").waitFor();
        const { items } = await api.get(`/tags?q=${encodeURIComponent(`Guessed ${name}`)}`);
        assert.deepEqual([items[0].attributes, items[0].data], [{ serial_number: serial }, { [colour]: "red" }]);
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+k");
        await page.keyboard.type(serial.toLowerCase());
        await page.getByRole("option", { name: new RegExp(`serial_number: ${serial}`) }).waitFor();
        await page.keyboard.press("Escape");
      }
      await api.post("/tags/bulk", { action: "delete", select: { filter: { q: "Guessed" } } });
    },
    "have problems that name the columns as the file does": async (page, { api }) => {
      await choose(page, Buffer.from("Bezeichnung;Kurzlink\nProblem row 1;a b\nProblem row 2;problem-row-2\n"));
      await page.getByLabel("Import Kurzlink as").waitFor();
      const problem = page.getByRole("list", { name: "Problems" }).getByText("Column “Kurzlink”: A slug has 1 to 64 characters");
      await page.getByRole("button", { name: "Check" }).click();
      await problem.waitFor();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("1 row imported, 1 row refused.").waitFor();
      await problem.waitFor();
      await page.keyboard.press("Escape");
      await api.post("/tags/bulk", { action: "delete", select: { filter: { q: "Problem row" } } });
    },
    "are undone with their inlays, and the same file asks before it is imported again": async (page, { api }) => {
      const file = () => Buffer.from("name,uid,technology\nTwice 1,04A1B2C3D4E5A1,ntag213\nTwice 2,04A1B2C3D4E5A2,ntag213\n");
      const start = page.getByRole("button", { name: "Import", exact: true });
      await choose(page, file());
      await start.click();
      await page.getByText("2 rows imported.").waitFor();
      // The notice is in the dialog, and covers none of its buttons.
      await page.getByRole("dialog").locator(".notice", { hasText: "2 tags created." }).waitFor();
      const free = (one) => {
        const { x, y, width, height } = one.getBoundingClientRect();
        return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      };
      for (const name of ["Done", "Undo import", "Import another file"])
        assert.ok(await page.getByRole("button", { name }).evaluate(free), name);

      await page.getByRole("button", { name: "Import another file" }).click();
      await page.getByLabel("CSV file").setInputFiles({ name: "copy.csv", mimeType: "text/csv", buffer: file() });
      await page.getByText("This file was imported before, as tags.csv").waitFor();
      await page.getByText("2 tags created.").last().waitFor();
      assert.ok(await start.isDisabled());
      await page.getByLabel("Import it again").check();
      await start.click();
      await page.getByText("2 rows refused").waitFor();

      // The first import is still among the recent changes.
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Recent changes" }).click();
      await page.getByRole("button", { name: "Undo: Import of tags.csv: 2 tags created." }).click();
      await page.getByText("Undone.").waitFor();
      assert.deepEqual([await count(api, "q=Twice"), await count(api, "q=Twice&deleted=true")], [0, 2]);
      assert.equal((await api.get("/inlays?uid=04A1B2C3D4E5A1")).items.length, 0);

      await choose(page, file());
      await start.click();
      await page.getByText("2 rows imported.").waitFor();
      await page.getByRole("button", { name: "Undo import" }).click();
      await page.locator(".notice", { hasText: "Import of tags.csv: 2 tags created." }).getByText("Undone.").waitFor();
      await page.getByLabel("CSV file").waitFor();
      assert.equal(await count(api, "q=Twice"), 0);
    },
    "that wait for their import are among the unsaved forms, and the window asks before it closes": async (page) => {
      await importing(page);
      await page.getByLabel("Import Piece as").selectOption("name");
      await page.keyboard.press("Escape");
      await page.getByText("Import of tags.csv: your changes are kept, but not saved.").waitFor();
      assert.ok(await page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true }))));
      await page.getByRole("button", { name: "1 unsaved form" }).click();
      await page.getByRole("link", { name: "Import of tags.csv" }).click();
      assert.equal(await page.getByLabel("Import Piece as").inputValue(), "name");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "1 unsaved form" }).click();
      await page.getByRole("button", { name: "Discard changes of Import of tags.csv" }).click();
      assert.ok(await page.evaluate(() => dispatchEvent(new Event("beforeunload", { cancelable: true }))));
      await page.getByRole("button", { name: "Import…" }).click();
      assert.equal(await page.getByLabel("Import Piece as").count(), 0);
    },
    "take the same file again once it is fixed": async (page) => {
      await importing(page);
      await page.getByText("3 rows").first().waitFor();
      assert.equal(await page.getByLabel("CSV file").inputValue(), "");
    },
    "are exported as the list shows them": async (page) => {
      await page.show("tags?q=watch");
      await page.getByText("Watch 45").waitFor();
      const sheet = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export tags" }).click();
      await page.getByRole("menuitem", { name: "Spreadsheet (.xlsx)…" }).click();
      await page.getByText("Tags exported.").waitFor();
      assert.equal((await sheet).suggestedFilename(), "tags.xlsx");
      assert.equal((await readFile(await (await sheet).path())).subarray(0, 2).toString(), "PK");
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export tags" }).click();
      await page.getByRole("menuitem", { name: "CSV…" }).click();
      await page.getByText(/^\d+ tags exported\.$/).waitFor();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /Watch 45/);
      assert.doesNotMatch(text, /Bottle/);
    },
    "are encoded together, after a question about an address of this computer": async (page) => {
      await asksAgain(page);
      await page.show("tags");
      await select(page, "Bottle 48", "Lamp 47");
      await page.getByRole("button", { name: "Encoding sheet…" }).click();
      await page.getByRole("button", { name: "For trying on this computer" }).click();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save CSV…" }).click();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /"Bottle 48","bottle-048","http:\/\/127.0.0.1:\d+\/t\/bottle-048\?uid=0{14}&token=0{22}"/);
    },
  },
});

/** Selects the tags that a search finds, and asks for their labels. */
const labels = async (page, q, ...names) => {
  await page.show(`tags?q=${q}`);
  await select(page, ...names);
  await page.getByRole("button", { name: "Print labels…" }).click();
  return page.getByRole("dialog", { name: /^Print \d+ labels?$/ });
};

group("Labels", {
  states: {
    "labels of two tags": async (page, { api }) => {
      for (const number of [1, 2])
        await api.post("/tags", { name: `Pictured bottle ${number}`, slug: `pictured-${number}0000` }).catch(() => null);
      const dialog = await labels(page, "pictured-", "Pictured bottle 1", "Pictured bottle 2");
      await dialog.getByRole("img", { name: /First label/ }).waitFor();
    },
    "the code of labels": async (page) => {
      const dialog = await labels(page, "pictured-", "Pictured bottle 1");
      await dialog.getByText("QR code", { exact: true }).click();
      await dialog.getByText("Add logo…").waitFor();
    },
    "an own sheet of labels": async (page) => {
      const dialog = await labels(page, "pictured-", "Pictured bottle 1");
      await dialog.getByLabel("Labels", { exact: true }).selectOption("Own sheet");
      await dialog.getByLabel("Gap between rows").waitFor();
    },
  },
  stories: {
    "are printed on a sheet of one's own, which is saved and deleted": async (page, { api }) => {
      await api.post("/tags", { name: "Sheeted 1", slug: "sheeted-10000" });
      const dialog = await labels(page, "sheeted-", "Sheeted 1");
      const stock = dialog.getByLabel("Labels", { exact: true });
      const field = (name) => dialog.getByLabel(name, { exact: true });
      const save = dialog.getByRole("button", { name: "Save sheet" });
      await stock.selectOption("Own sheet");
      await field("Name of the sheet").fill("Wine labels");
      for (const [name, wrong, words, right] of [
        ["Label width", "1", "1 x 36 mm cannot be printed", "90"],
        ["Columns", "3", "Use smaller labels, a smaller margin or fewer columns.", "2"],
        ["Left margin", "-1", "Margins are 0 to 300 mm.", "10"],
        ["Gap between rows", "-0.5", "labels cannot overlap", "0"],
      ]) {
        await field(name).fill(wrong);
        await dialog.getByRole("alert").getByText(words).waitFor();
        assert.ok(await save.isDisabled(), name);
        await field(name).fill(right);
      }
      await dialog.getByText("1 label on 1 page").waitFor();
      await save.click();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      // It is there when the dialog is opened again, after other labels were chosen.
      const again = await labels(page, "sheeted-", "Sheeted 1");
      await again.getByLabel("Labels", { exact: true }).selectOption("A4, 21 labels, 63.5 × 38.1 mm (L7160)");
      await again.getByLabel("Labels", { exact: true }).selectOption("Wine labels");
      assert.equal(await field("Label width").inputValue(), "90");
      assert.equal(await field("Left margin").inputValue(), "10");
      await again.getByRole("button", { name: "Delete sheet" }).click();
      assert.equal(await again.getByLabel("Labels", { exact: true }).inputValue(), "own-sheet");
    },
    "are previewed, refused in words, and saved": async (page, { api }) => {
      for (const number of [1, 2]) await api.post("/tags", { name: `Labelled ${number}`, slug: `labelled-${number}0000` });
      const dialog = await labels(page, "labelled-", "Labelled 1", "Labelled 2");
      await dialog.getByRole("img", { name: /First label, with the QR code of .*labelled-/ }).waitFor();
      await dialog.getByText("2 labels on 1 page").waitFor();
      await dialog.getByLabel("First free label").fill("21");
      await dialog.getByText("2 labels on 2 pages").waitFor();
      // The picture of the sheet begins at the label that is clicked.
      await dialog.getByTitle("Begin with label 4").click();
      await dialog.getByText("2 labels on 1 page").waitFor();
      assert.equal(await dialog.getByLabel("First free label").inputValue(), "4");
      await dialog.getByRole("button", { name: "Number of the label" }).click();
      assert.equal(await dialog.getByLabel("Text", { exact: true }).inputValue(), "{{tag:name}}\n{{label:number}}");
      await dialog.getByLabel("Text", { exact: true }).fill("{{tag:nmae}}");
      await dialog.getByText("The nearest is {{tag:name}}").waitFor();
      assert.ok(await dialog.getByRole("button", { name: "Save labels…" }).isDisabled());
      await dialog.getByLabel("Text", { exact: true }).fill("{{tag:name}}");
      await dialog.getByLabel("Labels", { exact: true }).selectOption("Own size");
      await dialog.getByLabel("Height").fill("9");
      await dialog.getByText("The smallest label of this shape is").waitFor();
      await dialog.getByLabel("Height").fill("30");
      await dialog.getByLabel("Format").selectOption("CSV with URLs and texts");
      await dialog.getByRole("status").getByText("2 labels").waitFor();
      const saved = page.waitForEvent("download");
      await dialog.getByRole("button", { name: "Save labels…" }).click();
      const gate = page.getByRole("dialog", { name: "Use an address that is not proved?" });
      if (await gate.isVisible().catch(() => false)) await gate.getByRole("button", { name: /trying|without proof/ }).click();
      const text = await readFile(await (await saved).path(), "utf8");
      assert.match(text, /slug,url,text 1\r\n.*labelled-10000/);
      await page.getByText("2 labels saved.").waitFor();
    },
  },
});
