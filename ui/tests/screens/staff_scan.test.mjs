import assert from "node:assert/strict";
import { devices } from "@playwright/test";
import { PATIENCE } from "./browser.mjs";
import { group } from "./suite.mjs";

// A phone with Web NFC tests a delivery in one tab. Chromium on a desktop has no Web NFC, so the test stands in for it.

/** Web NFC as Chrome on Android has it. `nfc.fault` in the local storage is the name of the error of a scan. */
const nfc = () => {
  window.nfc = { readers: [] };
  window.NDEFReader = class {
    async scan({ signal }) {
      const fault = localStorage.getItem("nfc.fault");
      if (fault) throw new DOMException("", fault);
      window.nfc.readers.push(this);
      signal.addEventListener("abort", () => window.nfc.readers.splice(window.nfc.readers.indexOf(this), 1));
    }
  };
};

/** Holds the phone to a tag with these records. */
const hold = (page, serialNumber, ...records) =>
  page.evaluate(
    ([serial, texts]) => {
      const record = ([recordType, text]) => ({ recordType, data: new DataView(new TextEncoder().encode(text).buffer) });
      const message = { records: texts.map(record) };
      for (const reader of window.nfc.readers) reader.onreading({ serialNumber: serial, message });
    },
    [serialNumber, records],
  );

const fail = (page) => page.evaluate(() => window.nfc.readers.forEach((reader) => reader.onreadingerror()));

/** A phone of staff, with Web NFC or without. */
async function phone(browser, { ui, api }, withNfc) {
  const { pair_url } = await api.post("/phones", { name: "Anna", scopes: ["read", "encode"] });
  const context = await browser.newContext({ ...devices["Pixel 7"], locale: "en-GB" });
  if (withNfc) await context.addInitScript(nfc);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`${ui.service}${new URL(pair_url).pathname}`);
  await page.getByRole("button", { name: "Pair this phone" }).tap();
  await page.getByText("This phone is paired").waitFor();
  return { page, context };
}

const tags = async (api, ui, ...names) => {
  const made = [];
  for (const name of names) {
    const { slug } = await api.post("/tags", { name });
    made.push(`${ui.service}/t/${slug}`);
  }
  return made;
};

const scan = (page) => page.getByRole("button", { name: "Scan continuously" });
const ready = (page) => page.getByText("Hold the phone to the next tag.").waitFor();

group("Scanning with a staff phone", {
  stories: {
    "opens one tag after the other in one tab": async (desk, world) => {
      const { api, ui } = world;
      const [first, second, third] = await tags(api, ui, "First bottle", "Second bottle", "Third bottle");
      const { page, context } = await phone(desk.context().browser(), world, true);
      try {
        await page.goto(first);
        await scan(page).tap();
        await ready(page);
        await hold(page, "04:a1", ["text", "A bottle"], ["url", second]);
        await page.getByRole("heading", { name: "Second bottle" }).waitFor();
        await ready(page);
        const of_second = page.url();

        // The tag stays at the phone, which reads it again and again.
        await hold(page, "04:a1", ["url", second]);
        await page.getByText("This tag is shown already.").waitFor();
        assert.equal(page.url(), of_second);
        // Nothing is read while a form is sent and its answer comes.
        await page.evaluate(() => {
          const last = JSON.parse(sessionStorage.getItem("tapdesk-scan-last"));
          sessionStorage.setItem("tapdesk-scan-last", JSON.stringify({ ...last, at: last.at - 60_000 }));
        });
        await page.reload();
        await ready(page);
        await hold(page, "04:a1", ["url", second]);
        await page.getByText("This tag is shown already.").waitFor();
        assert.equal(page.url(), of_second);
        await hold(page, "08:01", ["absolute-url", third]);
        await page.getByRole("heading", { name: "Third bottle" }).waitFor();
        await ready(page);
        // A chip with a random UID is the same one if its address is.
        const of_third = page.url();
        await hold(page, "08:02", ["url", third]);
        await page.getByText("This tag is shown already.").waitFor();
        assert.equal(page.url(), of_third);
        assert.equal(context.pages().length, 1);

        await page.getByRole("button", { name: "Stop scanning" }).tap();
        await scan(page).waitFor();
        await hold(page, "04:a1", ["url", second]);
        await page.reload();
        await page.getByRole("heading", { name: "Third bottle" }).waitFor();
        await scan(page).waitFor();
      } finally {
        await context.close();
      }
    },
    "sends no photo that is too large, and keeps the note": async (desk, world) => {
      const { api, ui } = world;
      const [first] = await tags(api, ui, "First bottle");
      const { page, context } = await phone(desk.context().browser(), world, false);
      const sent = [];
      page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
      try {
        await page.goto(first);
        await page.getByText("Note and photo").tap();
        const photo = page.locator("#photo");
        const form = page.locator("form").filter({ has: photo });
        await page.locator("#tap-note").fill("Torn");
        await photo.setInputFiles({ name: "large.jpg", mimeType: "image/jpeg", buffer: Buffer.alloc(16 * 1024 * 1024 + 1) });
        await form.getByRole("button", { name: "Save" }).tap();
        const why = await photo.evaluate((input) => input.validationMessage);
        assert.equal(why, "This photo is too large. Take it with fewer pixels.");
        assert.deepEqual(sent, []);
        await photo.setInputFiles([]);
        await form.getByRole("button", { name: "Save" }).tap();
        await page.waitForLoadState();
        await page.locator("#tap-note").getByText("Torn").waitFor();
        assert.equal(sent.length, 1);
      } finally {
        await context.close();
      }
    },
    "never opens another service's address, and names each trouble": async (desk, world) => {
      const { api, ui } = world;
      const [first] = await tags(api, ui, "First bottle");
      const { page, context } = await phone(desk.context().browser(), world, true);
      const foreign = [];
      await context.route(/another\.example/, (route) => {
        foreign.push(route.request().url());
        return route.abort();
      });
      try {
        await page.goto(first);
        const here = page.url();
        await scan(page).tap();
        await ready(page);
        for (const url of ["https://another.example/t/k3v9qa", "http://127.0.0.1.another.example/t/x", `${ui.service}@another.example/`]) {
          await hold(page, "04:a1", ["url", url]);
          await page.getByText(/another\.example is no address of this service/).waitFor();
          await hold(page, "04:a1");
          await page.getByText("This tag has no URL.").waitFor();
        }
        await hold(page, "04:a1", ["url", "javascript:document.title='Owned'"]);
        await page.getByText("javascript: is no address of this service.").waitFor();
        await hold(page, "04:a1", ["url", "not a URL"]);
        await page.getByText("This tag has no URL.").waitFor();
        await fail(page);
        await page.getByText("The tag could not be read.").waitFor();
        assert.deepEqual([page.url(), foreign, await page.title()], [here, [], "First bottle"]);

        await page.getByRole("button", { name: "Stop scanning" }).tap();
        for (const [fault, words] of [
          ["NotAllowedError", "The browser does not allow NFC"],
          ["NotSupportedError", "NFC does not work now."],
          ["NotReadableError", "NFC does not work now."],
        ]) {
          await page.evaluate((name) => localStorage.setItem("nfc.fault", name), fault);
          await scan(page).tap();
          await page.getByText(words).waitFor();
          await scan(page).waitFor();
        }
      } finally {
        await context.close();
      }
    },
    "shows a note of an earlier tap below the verdict of this tap": async (desk, world) => {
      const { api, ui } = world;
      const [first] = await tags(api, ui, "First bottle");
      const { page, context } = await phone(desk.context().browser(), world, false);
      try {
        await page.goto(first);
        await page.getByText("Note and photo", { exact: true }).tap();
        await page.getByLabel(/^Text/).fill("The label is torn at the top, and was glued again");
        await page.getByRole("button", { name: "Save" }).tap();
        await page.getByText("Note saved").waitFor();
        const starts = (locator) => locator.evaluate((shown) => Math.round(shown.getBoundingClientRect().left));
        const verdict = page.getByRole("definition").filter({ hasText: "Not checked" });
        const note = page.getByRole("definition").filter({ hasText: "The label is torn" });
        assert.equal(await starts(note), await starts(verdict));
      } finally {
        await context.close();
      }
    },
    "opens in no window that another page of the same host can read": async (desk, world) => {
      const { api, ui } = world;
      const [first] = await tags(api, ui, "First bottle");
      const { page, context } = await phone(desk.context().browser(), world, false);
      try {
        await context.route("**/shop.html", (route) => route.fulfill({ contentType: "text/html", body: "<h1>Shop</h1>" }));
        await page.goto(`${ui.service}/shop.html`);
        const opens = page.evaluate((url) => {
          window.opened = window.open(url);
        }, first);
        const [opened] = await Promise.all([context.waitForEvent("page"), opens]);
        await opened.getByRole("heading", { name: "First bottle" }).waitFor();
        const read = await page.evaluate(() => {
          try {
            return window.opened.document.body.textContent;
          } catch {
            return null;
          }
        });
        assert.equal(read, null);
      } finally {
        await context.close();
      }
    },
    "is not offered by a browser without Web NFC": async (desk, world) => {
      const { api, ui } = world;
      const [first] = await tags(api, ui, "First bottle");
      const { page, context } = await phone(desk.context().browser(), world, false);
      try {
        await page.goto(first);
        await page.getByRole("heading", { name: "First bottle" }).waitFor();
        assert.equal(await scan(page).count(), 0);
      } finally {
        await context.close();
      }
    },
  },
});
