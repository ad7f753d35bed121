import assert from "node:assert/strict";
import { group } from "./suite.mjs";

// A browser has no reader: the tests of the window cover inlays on one.

const verdicts = ["ok", "duplicate", "counter_gap", "not_verified", "copied_url"];

/** A sheet with a row of each kind; its id. */
async function sheet({ api }) {
  const { id } = await api.post("/sheets", { name: "Delivery 12", planned: 25 });
  for (const verdict of verdicts) {
    await api.post(`/sheets/${id}/rows`, { uid: "04DE5F1EACC040", counter: 1, verdict, reason: "as it was judged" });
  }
  return id;
}

const heading = async (page, place, name) => {
  await page.show(place);
  await page.getByRole("heading", { name, exact: true }).waitFor();
};

group("Reader and test sheets", {
  states: {
    "no reader": (page) => heading(page, "reader", "Reader"),
    doctor: (page) => heading(page, "reader/doctor", "Reader doctor"),
    "batch assignment": (page) => heading(page, "reader/batch", "Batch assignment"),
    sheets: (page) => heading(page, "sheets", "Test sheets"),
    "a sheet": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      await page.getByText("Counter gap").first().waitFor();
    },
    "a new sheet": async (page) => {
      await heading(page, "sheets", "Test sheets");
      await page.getByRole("button", { name: "New sheet" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "export a sheet as it stands": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV…" }).click();
      const stream = await (await saved).createReadStream();
      const text = Buffer.concat(await stream.toArray()).toString();
      assert.deepEqual(
        text
          .trim()
          .split("\r\n")
          .slice(1)
          .map((line) => line.split(",")[5]),
        verdicts,
      );
    },
    "print a sheet whole, without the window around it": async (page, world) => {
      await heading(page, `sheets/${await sheet(world)}`, "Delivery 12");
      const printed = page.locator(".printed-sheet");
      assert.equal(await printed.isVisible(), false);
      await page.emulateMedia({ media: "print" });
      assert.equal(await page.locator("#app").isVisible(), false);
      const rows = await printed.locator("tbody tr").allInnerTexts();
      assert.deepEqual(
        rows.map((row) => row.split("\t")[1]),
        ["Good", "Duplicate", "Counter gap", "Not verified", "Copied URL"],
      );
      await printed.getByText("1 good, 1 to check, 3 bad, 5 in total.").waitFor();
    },
    "close a sheet, and reopen it": async (page, world) => {
      const id = await sheet(world);
      await heading(page, `sheets/${id}`, "Delivery 12");
      await page.getByRole("button", { name: "Close sheet" }).click();
      await page.getByText("The sheet is closed.").waitFor();
      assert.equal((await world.api.get(`/sheets/${id}`)).closed, true);
      await page.getByRole("button", { name: "Reopen" }).click();
      await page.getByRole("button", { name: "Close sheet" }).waitFor();
    },
  },
});
