import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { devices } from "@playwright/test";
import { PATIENCE } from "./browser.mjs";
import { Inlay } from "./inlay.mjs";
import { group } from "./suite.mjs";

// A day at goods-in: a reader, two phones and a desk fill one sheet at the same time. The reader's rows are sent as the
// desktop sends them, and the phones are browsers that tap inlays.

const READER = "ACS ACR1252 1S CL Reader [ACR1252 Reader PICC] 00 00";
const PLANNED = 60;
const BY_READER = 30;

/** Verdicts of the reader that are trouble, with their reasons. The phones add two more: a forged code, and "Bad" with a note. */
const trouble = {
  duplicate: "Already tested as inlay 3 of this sheet.",
  unreadable: "The chip has no NDEF message.",
  wrong_url: "Its URL is https://another.example.org/a/very/long/path/that/does/not/fit/in/a/line/of/the/report, but tags are elsewhere.",
  wrong_tag: "The inlay is bound to another tag than its URL.",
  counter_gap: "Counter 61 follows 12: somebody read it in between.",
  copied_url: "رابط منسوخ من شريحة أخرى",
};

const titles = {
  ok: "Good",
  duplicate: "Duplicate",
  unreadable: "Unreadable",
  wrong_url: "Wrong URL",
  wrong_tag: "Wrong tag",
  counter_gap: "Counter gap",
  copied_url: "Copied URL",
  not_verified: "Not verified",
  bad: "Bad",
};

/** A picture of one pixel. */
const DOT = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/** Tags with an inlay each, from this number on: the stories of a file share a service. */
const bottles = async (api, count, first = 0) => {
  const made = [];
  for (let number = first; number < first + count; number++) {
    const tag = await api.post("/tags", { name: `Bottle ${number + 1} of the delivery` });
    const inlay = new Inlay(`04DE5F1EBB${number.toString(16).padStart(4, "0").toUpperCase()}`, `${number + 1}`.padStart(32, "7"));
    const fields = { uid: inlay.uid, technology: "ntag424dna", mirror: "plain", tag_id: tag.id, file_key: inlay.key.toString("hex") };
    await api.post("/inlays", fields);
    made.push({ tag, inlay });
  }
  return made;
};

/** A phone of staff: a browser that opened its pair URL, and pressed the button. */
async function phone(browser, { ui, api }, name) {
  const { pair_url } = await api.post("/phones", { name, scopes: ["read", "encode"] });
  const context = await browser.newContext({ ...devices["Pixel 7"], locale: "en-GB" });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`${ui.service}${new URL(pair_url).pathname}`);
  await page.getByRole("button", { name: "Pair this phone" }).tap();
  await page.getByText("This phone is paired").waitFor();
  return {
    page,
    close: () => context.close(),
    tap: ({ tag, inlay }, query = inlay.read()) => page.goto(`${ui.service}/t/${tag.slug}${query}`),
    async press(button, note = "", photo = null) {
      await page.getByLabel("Note").fill(note);
      if (photo) await page.getByLabel("Photo").first().setInputFiles({ name: "photo.png", mimeType: "image/png", buffer: photo });
      await page.getByRole("button", { name: button, exact: true }).tap();
    },
  };
}

/** One inlay after the other: the third is forged, the fifth is bad and has a photo, and every other one is good. */
async function walk(phone, share) {
  for (const [index, bottle] of share.entries()) {
    const read = bottle.inlay.read();
    const forged = index === 2 ? read.replace(/.$/, (last) => (last === "0" ? "1" : "0")) : read;
    await phone.tap(bottle, forged);
    if (index === 2) await phone.press("Bad");
    else if (index === 4) await phone.press("Bad", "Der Aufkleber löst sich an der Ecke.", DOT);
    else await phone.press("Good");
    await phone.page.getByText("Row saved").waitFor();
  }
}

/** The rows of the desk's reader, as its program sends them. */
async function read(api, id, share) {
  const kinds = Object.entries(trouble);
  for (const [index, { tag, inlay }] of share.entries()) {
    const [verdict, reason] = index % 4 === 1 ? kinds[((index - 1) / 4) % kinds.length] : ["ok", `Counter ${index + 1} is new.`];
    const known = verdict === "unreadable" ? {} : { uid: inlay.uid, tag_id: tag.id, counter: index + 1 };
    await api.post(`/sheets/${id}/rows`, { ...known, verdict, reason, reader: READER });
  }
}

const POINTS = 72 / 25.4;
const MARGIN = 12;
const WIDTHS = [12, 42, 28, 36, 16, 18, 55, 26, 28, 12];

/** The cells of a PDF's table by their places, without blanks: a long text continues on the next line. */
async function cells(pdf) {
  const folder = await mkdtemp(join(tmpdir(), "tapdesk-pdf-"));
  try {
    const file = join(folder, "sheet.pdf");
    await writeFile(file, pdf);
    const { stdout } = await promisify(execFile)("pdftotext", ["-bbox", file, "-"], { maxBuffer: 1 << 26 });
    return stdout.split("<page ").slice(1).flatMap(rowsOf);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function rowsOf(page) {
  const word = /<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="[\d.]+">(.*?)<\/word>/g;
  const plain = (text) => text.replaceAll("&amp;", "&").replaceAll(/[\u202a-\u202e]/g, "");
  const words = [...page.matchAll(word)].map(([, x, y, end, text]) => ({
    x: x / POINTS - MARGIN,
    end: end / POINTS - MARGIN,
    y: Number(y),
    text: plain(text),
  }));
  const head = words.findIndex(({ text, x }) => text === "No." && x < 1);
  // A page of photos has no table.
  if (head < 0) return [];
  // The page's number is the last line, and photos begin below the table.
  const photos = words.find(({ text, x }) => text === "Photos" && x < 1);
  const last = Math.min(photos?.y ?? Infinity, Math.max(...words.map(({ y }) => y)));
  const rows = [];
  for (const { x, end, y, text } of words.slice(head + 1)) {
    if (y >= last - 1 || Math.abs(y - words[head].y) < 1) continue;
    let column = 0;
    for (let begin = WIDTHS[0]; column < WIDTHS.length - 1 && x > begin - 0.5; begin += WIDTHS[column]) column++;
    const until = WIDTHS.slice(0, column + 1).reduce((sum, width) => sum + width, 0);
    assert.ok(end <= until, `${text} ends at ${end}, behind its column`);
    rows.push({ column, y, text });
  }
  const begins = rows.filter(({ column }) => column === 0).map(({ y }) => y);
  return begins.map((begin, index) => {
    const of = rows.filter(({ y }) => y >= begin - 0.5 && y < (begins[index + 1] ?? Infinity) - 0.5);
    return WIDTHS.map((_, column) => of.filter((one) => one.column === column).map(({ text }) => text));
  });
}

/** Letters in order of their values: readers of PDF order words from right to left each in their own way. */
const letters = (text) => [...text.replaceAll(/\s/g, "")].sort().join("");
const expectedCells = (row) =>
  [
    row.position,
    row.at,
    titles[row.verdict],
    row.uid ?? "",
    row.tag_id ?? "",
    row.counter ?? "",
    row.reason,
    row.by.name ?? "Program",
    row.reader ?? "",
    row.photo ? "Yes" : "",
  ].map((cell) => letters(String(cell)));

group("A delivery", {
  stories: {
    "is tested by a reader and two phones at the same time, and its PDF has the rows of the API": async (page, world) => {
      const { api, ui } = world;
      const { id } = await api.post("/sheets", { name: "Delivery of 60 inlays", planned: PLANNED, expected: { tag_verified: true } });
      const all = await bottles(api, PLANNED);
      const browser = page.context().browser();
      await page.show(`sheets/${id}`);
      await page.getByText(`0 of ${PLANNED} tested`).waitFor();
      const anna = await phone(browser, world, "Anna-Magdalena Schwarzenberger");
      const jan = await phone(browser, world, "Phone of Jan");
      try {
        const half = (PLANNED - BY_READER) / 2;
        await Promise.all([
          read(api, id, all.slice(0, BY_READER)),
          walk(anna, all.slice(BY_READER, BY_READER + half)),
          walk(jan, all.slice(BY_READER + half)),
        ]);
        // The desk shows the rows of the others without a click.
        await page.getByText(`${PLANNED} of ${PLANNED} tested`).waitFor();
        await page.getByText("Der Aufkleber löst sich an der Ecke.").first().waitFor();

        // A phone whose page is still open when the sheet is signed off cannot change it.
        await anna.tap(all[0]);
        await anna.page.getByText(/^Row \d+ is about this tag already/).waitFor();
        await page.getByRole("button", { name: "Sign off…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByText(`${PLANNED} inlays:`).waitFor();
        await dialog.getByLabel("Your name").fill("Zoë Østergård");
        await dialog.getByRole("button", { name: "Sign off", exact: true }).click();
        await dialog.waitFor({ state: "detached" });
        await anna.press("Good");
        await anna.page.getByRole("alert").filter({ hasText: "signed off" }).waitFor();
      } finally {
        await anna.close();
        await jan.close();
      }

      const sheet = await api.get(`/sheets/${id}`);
      assert.equal(sheet.rows.length, PLANNED);
      assert.deepEqual(new Set(sheet.rows.map(({ verdict }) => verdict)), new Set(Object.keys(titles)));
      assert.deepEqual(
        new Set(sheet.rows.map(({ reader }) => reader)),
        new Set([READER, "Anna-Magdalena Schwarzenberger", "Phone of Jan"]),
      );
      assert.equal(sheet.signed_off.signer, "Zoë Østergård");
      const answer = await fetch(`${ui.service}/admin/v1/sheets/${id}/report.pdf`, { headers: { authorization: `Bearer ${ui.token}` } });
      assert.equal(answer.status, 200);
      const found = await cells(Buffer.from(await answer.arrayBuffer()));
      assert.deepEqual(
        found.map((row) => row.map((cell) => letters(cell.join("")))),
        sheet.rows.map(expectedCells),
      );
      assert.equal(sheet.rows.filter(({ photo }) => photo).length, 2);
    },
    "keeps the note of a form whose photo is too large, if its script did not load": async (page, world) => {
      const { api } = world;
      await api.post("/sheets", { name: "Delivery of one inlay" });
      const [bottle] = await bottles(api, 1, PLANNED);
      const anna = await phone(page.context().browser(), world, "Anna");
      try {
        await anna.page.route("**/*.js", (route) => route.abort());
        await anna.tap(bottle);
        await anna.press("Bad", "Die Ecke fehlt.", Buffer.alloc(24 * 1024 * 1024));
        await anna.page.getByRole("alert").filter({ hasText: "This photo is too large." }).waitFor();
        assert.equal(await anna.page.getByLabel("Note").inputValue(), "Die Ecke fehlt.");
        await anna.press("Bad", "Die Ecke fehlt.", DOT);
        await anna.page.getByText("Row saved").waitFor();
      } finally {
        await anna.close();
      }
    },
  },
});
