import assert from "node:assert/strict";
import { settled } from "./browser.mjs";
import { group } from "./suite.mjs";

const part =
  (name) =>
  async (page, { tags }) => {
    await page.show(`tags/${tags[46].id}`);
    await page.getByRole("tab", { name }).click();
    await settled(page);
  };

group("A tag", {
  states: {
    details: part("Details"),
    properties: part("Properties"),
    location: part("Location"),
    taps: part("Taps"),
    "a long name": (page, { tags }) => page.show(`tags/${tags[39].id}`),
  },
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
    "is tapped and visited without its chip, in the simulated world": async (page, { api, ui, equipped }) => {
      const { id } = equipped[1].tag;
      const before = (await api.get(`/tags/${id}`)).scan_count;
      await page.show(`tags/${id}`);
      const pane = page.getByLabel("Selected tag");
      await pane.getByRole("button", { name: "Tap it now" }).click();
      await pane.getByRole("link", { name: "Inspect this tap" }).waitFor();
      const said = await pane.getByRole("status").filter({ hasText: "Inspect this tap" }).innerText();
      assert.match(said, /^\s*verified[^]*simulated/);
      const [newest] = (await api.get("/interactions?limit=1&simulated=true")).items;
      assert.equal(newest.tag_verified, true);
      // The tag that was opened is the same twin, with a code of its own.
      const [opened] = await Promise.all([
        page.context().waitForEvent("request", (request) => request.url().startsWith(`${ui.service}/t/${newest.slug}?uid=`)),
        pane.getByRole("button", { name: "Open as visitor" }).click(),
      ]);
      assert.match(opened.url(), /&token=[0-9A-Fa-f]+$/);
      assert.equal((await api.get(`/tags/${id}`)).scan_count, before);
      await pane.getByRole("link", { name: "Inspect this tap" }).click();
      await page.getByRole("heading", { name: `Interaction ${newest.id.toLocaleString("en")}` }).waitFor();
      // A link to something simulated switches to its world.
      const demo = page.getByRole("switch", { name: /Demo world/ });
      assert.equal(await demo.getAttribute("aria-checked"), "true");
      await demo.click();
      for (const other of page.context().pages()) if (other !== page) await other.close();
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
    "that is assigned gets the variables that the page writes, and one that lacks some gets them in one click": async (
      page,
      { api, tags },
    ) => {
      const fields = [{ label: "Serial number", kind: "text", variable: "serial", required: true }];
      const blocks = [{ type: "form", fields, submit_label: "Send" }];
      const experience = await api.post("/experiences", { name: "Ask for a serial number", kind: "studio", blocks });
      const { id } = tags[8];
      await page.show(`tags/${id}`);
      await page.getByRole("tabpanel").getByLabel("Experience", { exact: true }).selectOption("Ask for a serial number");
      await page.getByText("Saving adds the variable serial to the tag").waitFor();
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("Saving adds").waitFor({ state: "hidden" });
      const serial = async () => (await api.get(`/tags/${id}`)).variables.serial;
      assert.equal(await serial(), "");
      assert.equal((await api.get(`/tags/${id}`)).experience_id, experience.id);
      await api.remove(`/tags/${id}/variables/serial`);
      await page.show("overview");
      await page.show(`tags/${id}`);
      await page.getByText("The page writes the variable serial, which this tag does not have").waitFor();
      await page.getByRole("button", { name: "Add variable" }).click();
      await page.getByText("The page writes").waitFor({ state: "hidden" });
      assert.equal(await serial(), "");
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
    "has a printed code only if that was stored": async (page, { tags }) => {
      const tag = tags.find(({ has_qr_code, status }) => !has_qr_code && status === "active");
      await page.show(`tags/${tag.id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      const printed = page.getByLabel("A printed code is in use");
      const refused = { status: 503, contentType: "application/problem+json", body: JSON.stringify({ detail: "The disk is full." }) };
      await page.route(`**/admin/v1/tags/${tag.id}`, (route) =>
        route.request().method() === "PATCH" ? route.fulfill(refused) : route.fallback(),
      );
      await printed.click();
      await page.getByText("The disk is full.").first().waitFor();
      assert.equal(await printed.isChecked(), false);
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
    "gets a new property that is typed, without a press of Add, and never one without a key": async (page, { api, tags }) => {
      await page.show(`tags/${tags[2].id}`);
      await page.getByRole("tab", { name: "Properties" }).click();
      const added = page.getByRole("group", { name: "Add to attributes" });
      await added.getByLabel("Default value").fill("blue");
      await page.getByRole("button", { name: "Save properties" }).click();
      await page.getByRole("alert").getByText("Give the new property a key.").waitFor();
      assert.equal(await added.getByLabel("Default value").inputValue(), "blue");
      await added.getByLabel("New key").fill("glaze");
      await page.getByRole("button", { name: "Save properties" }).click();
      await page.getByText("Properties saved.").waitFor();
      assert.equal((await api.get(`/tags/${tags[2].id}`)).attributes.glaze, "blue");
      assert.equal(await added.getByLabel("New key").inputValue(), "");
    },
    "has a location, which can be removed again": async (page, { api, tags }) => {
      await page.show(`tags/${tags[3].id}`);
      await page.getByRole("tab", { name: "Location" }).click();
      await page.getByLabel("Street and number").fill("Hauptstraße 3");
      await page.getByLabel("Latitude").fill("48.4");
      await page.getByRole("button", { name: "Save location" }).click();
      // Half a coordinate is no place: the other half is asked for, and not taken to be 0.
      const longitude = page.getByLabel("Longitude");
      await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
      assert.equal((await api.get(`/tags/${tags[3].id}`)).location, null);
      await longitude.fill("0");
      await page.getByRole("button", { name: "Save location" }).click();
      await page.getByText("Location saved.").waitFor();
      const { location } = await api.get(`/tags/${tags[3].id}`);
      assert.deepEqual([location.lat, location.lon], [48.4, 0]);
      await page.getByRole("button", { name: "Remove location" }).click();
      await page.getByText("Location removed.").waitFor();
      assert.equal((await api.get(`/tags/${tags[3].id}`)).location, null);
    },
  },
});
