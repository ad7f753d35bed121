import assert from "node:assert/strict";
import { group } from "./suite.mjs";

/** A name that is never resolved: what is sent to it waits. */
const nobody = (name) => `https://${name}.invalid/hook`;

const list = async (page) => {
  await page.show("settings/webhooks");
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
};
/** Rows have the URL without https. */
const rowOf = (page, url) => page.getByRole("row").filter({ hasText: url.replace("https://", "") });
const act = async (page, url, action) => {
  await rowOf(page, url).hover();
  await page.getByRole("button", { name: `More actions for ${url}` }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
};
const dialog = (page) => page.getByRole("dialog");
/** A moment as a field of the page has it: the browser is in UTC, as the test's machine may not be. */
const local = (page, at) =>
  page.evaluate((at) => new Date(new Date(at).getTime() - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16), at);

group("Webhooks", {
  states: {
    "a new one": async (page) => {
      await list(page);
      await page.getByRole("button", { name: "New webhook…" }).click();
      await dialog(page).getByRole("button", { name: "Add attribute" }).click();
    },
    "a refused one": async (page) => {
      await list(page);
      await page.getByRole("button", { name: "New webhook…" }).click();
      await dialog(page).getByLabel("URL", { exact: true }).fill("http://127.0.0.1/hook");
      await dialog(page).getByRole("button", { name: "Create webhook" }).click();
      await dialog(page).getByText("not on the public internet").waitFor();
    },
    "events to be sent again": async (page, { api, now }) => {
      const url = nobody("again");
      const { items } = await api.get("/webhooks");
      if (!items.some((one) => one.url === url)) await api.post("/webhooks", { url, events: ["tap.verified", "tag.updated"] });
      await list(page);
      await act(page, url, "Send everything since…");
      await dialog(page)
        .getByLabel("Since")
        .fill(await local(page, now - 3_600_000));
      await dialog(page).getByText("At most").waitFor();
    },
  },
  stories: {
    "list what was sent to them and what it answered, and send it again, by keys": async (page, { api }) => {
      const url = nobody("listed");
      await api.post("/webhooks", { url, events: ["tag.updated"] });
      const attempt = (id, error) => ({
        id,
        event_id: `msg_${id}`,
        type: "tag.updated",
        at: new Date().toISOString(),
        duration_ms: 12,
        status: error ? null : 204,
        error,
        response: "",
      });
      const json = (body, status = 200) => ({ status, contentType: "application/json", body: JSON.stringify(body) });
      await page.route("**/admin/v1/webhooks/*/attempts*", (route) =>
        route.fulfill(json({ items: [attempt(8, "The name cannot be resolved."), attempt(7, null)], next: null })),
      );
      const again = [];
      await page.route("**/admin/v1/webhooks/*/resend", (route) => {
        again.push(route.request().postDataJSON());
        return route.fulfill({ status: 202 });
      });
      await list(page);
      await act(page, url, "View attempts");
      const attempts = dialog(page).getByRole("grid", { name: "Attempts" });
      await attempts.getByText("Delivered (204), 12 ms").waitFor();
      await attempts.locator("[data-row]").first().focus();
      await page.keyboard.press("ArrowDown");
      await page.waitForFunction(() => document.activeElement.dataset.row === "7");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await dialog(page).getByText("The event is sent again.").waitFor();
      assert.deepEqual(again, [{ event_id: "msg_7" }]);
    },
    "are told of one experience, one world and some attributes, with what was chosen": async (page, { api }) => {
      const url = nobody("narrowed");
      const [experience] = (await api.get("/experiences")).items;
      await list(page);
      await page.getByRole("button", { name: "New webhook…" }).click();
      await dialog(page).getByLabel("URL", { exact: true }).fill(url);
      await dialog(page)
        .getByRole("checkbox", { name: /^Taps not verified/ })
        .uncheck();
      await dialog(page)
        .getByRole("checkbox", { name: /^Submissions/ })
        .check();
      await dialog(page).getByLabel("Experience").selectOption(experience.name);
      await dialog(page).getByLabel("Tags", { exact: true }).selectOption("both");
      await dialog(page).getByRole("button", { name: "Add attribute" }).click();
      await dialog(page).getByLabel("Key of attribute 1").fill("batch");
      await dialog(page).getByLabel("Value of attribute 1").fill("2026-A");
      await dialog(page).getByRole("checkbox", { name: /^UID/ }).check();
      await dialog(page)
        .getByRole("checkbox", { name: /^Variables/ })
        .check();
      await dialog(page).getByRole("button", { name: "Create webhook" }).click();
      assert.match(await dialog(page).locator("code").textContent(), /^whsec_/);
      await page.keyboard.press("Escape");
      await dialog(page).getByRole("button", { name: "Close", exact: true }).click();
      const made = (await api.get("/webhooks")).items.find((one) => one.url === url);
      assert.deepEqual(made.events, ["tap.verified", "tap.not_checked", "submission.created"]);
      assert.deepEqual(made.filter, { experience_id: experience.id, attribute: { batch: "2026-A" }, world: "all" });
      assert.deepEqual(made.include, ["uid", "variables"]);
      // A narrow window has no room for its events.
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.getByText(`only ${experience.name}; only batch = 2026-A`).waitFor();

      await act(page, url, "Change…");
      assert.equal(await dialog(page).getByLabel("Value of attribute 1").inputValue(), "2026-A");
      await dialog(page).getByRole("button", { name: "Remove attribute 1" }).click();
      await dialog(page).getByLabel("Experience").selectOption("all");
      await dialog(page).getByRole("checkbox", { name: /^UID/ }).uncheck();
      await dialog(page).getByRole("button", { name: "Save webhook" }).click();
      await page.getByText("Webhook saved.").waitFor();
      const changed = await api.get(`/webhooks/${made.id}`);
      assert.deepEqual(changed.filter, { world: "all" });
      assert.deepEqual([changed.include, changed.events], [["variables"], made.events]);
    },
    "say how their deliveries stand, in a narrow window, too": async (page, { api }) => {
      const url = nobody("waiting");
      await api.post("/webhooks", { url, events: ["tap.verified"] });
      const off = await api.post("/webhooks", { url: nobody("off"), events: ["tap.verified"], enabled: false });
      await page.setViewportSize({ width: 1024, height: 700 });
      await list(page);
      await rowOf(page, off.url).getByText("Switched off").waitFor();
      const row = rowOf(page, url);
      await row
        .locator(".delivery")
        .filter({ hasText: /^(On|Nothing sent yet|Delivered|Failed|Failing for|\d+ waiting)/ })
        .waitFor();
      assert.doesNotMatch(await row.innerText(), /https:|tap\.verified/);
      const parts = await row.locator(".name, .delivery").evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
      assert.deepEqual(parts, [0, 0]);
      await act(page, url, "View attempts");
      await dialog(page).getByRole("heading", { name: "Last attempts" }).waitFor();
    },
    "say at their URL why it is refused, and keep what was typed": async (page) => {
      await list(page);
      await page.getByRole("button", { name: "New webhook…" }).click();
      const url = dialog(page).getByLabel("URL", { exact: true });
      await url.fill("https://shop:secret@example.com/hook");
      await dialog(page).getByRole("button", { name: "Create webhook" }).click();
      const error = dialog(page).getByRole("alert");
      await error.getByText("no user name and no password").waitFor();
      assert.equal(await url.getAttribute("aria-invalid"), "true");
      assert.equal(await url.getAttribute("aria-describedby"), await error.getAttribute("id"));
      assert.equal(await url.inputValue(), "https://shop:secret@example.com/hook");
      assert.equal(await page.locator(".notice").count(), 0);
    },
    "follow what others change, also in an open form": async (page, { api }) => {
      const url = nobody("shared");
      const { id } = await api.post("/webhooks", { url, events: ["tap.verified"] });
      await list(page);
      await act(page, url, "Change…");
      const typed = dialog(page).getByLabel("URL", { exact: true });
      await typed.fill(nobody("typed"));
      await api.patch(`/webhooks/${id}`, { events: ["tap.verified", "tag.updated"] });
      const updates = dialog(page).getByRole("checkbox", { name: /^Updates/ });
      await updates.and(page.locator(":checked")).waitFor();
      assert.equal(await typed.inputValue(), nobody("typed"));
      await dialog(page).getByRole("button", { name: "Save webhook" }).click();
      await rowOf(page, nobody("typed")).getByText("Verified taps, Updates").waitFor({ state: "attached" });
      await api.remove(`/webhooks/${id}`);
      await rowOf(page, nobody("typed")).waitFor({ state: "detached" });
    },
    "are deleted by name": async (page, { api }) => {
      const url = nobody("deleted");
      const { id } = await api.post("/webhooks", { url, events: ["tap.verified"] });
      await list(page);
      await act(page, url, "Delete…");
      const question = page.getByRole("dialog", { name: `Delete the webhook to ${url}?` });
      await question.getByRole("button", { name: "Cancel" }).click();
      await api.get(`/webhooks/${id}`);
      await act(page, url, "Delete…");
      await question.getByRole("button", { name: "Delete webhook" }).click();
      await page.getByText("Deleted the webhook.").waitFor();
      const { items } = await api.get("/webhooks?limit=100");
      assert.ok(items.every((webhook) => webhook.id !== id));
    },
    "send everything since a time, and say before how much that is": async (page, { api, now }) => {
      const url = nobody("everything");
      const { id } = await api.post("/webhooks", { url, events: ["tap.verified"] });
      const since = new Date(Math.floor((now.getTime() - 6 * 3_600_000) / 60_000) * 60_000);
      const { totals } = await api.get(`/stats?step=hour&since=${since.toISOString()}`);
      assert.ok(totals.verified > 0 && totals.not_checked > 0, JSON.stringify(totals));
      await list(page);
      await act(page, url, "Send everything since…");
      const send = dialog(page).getByRole("button", { name: /^Send / });
      assert.ok(await send.isDisabled());
      await dialog(page)
        .getByLabel("Since")
        .fill(await local(page, new Date(now.getTime() + 86_400_000)));
      await dialog(page).getByText("This time is in the future.").waitFor();
      assert.ok(await send.isDisabled());
      await dialog(page)
        .getByLabel("Since")
        .fill(await local(page, since));
      await dialog(page).getByText(`At most ${totals.verified} taps`).waitFor();
      assert.equal((await api.get(`/webhooks/${id}`)).waiting, 0);
      await dialog(page)
        .getByRole("button", { name: `Send at most ${totals.verified} events again` })
        .click();
      await page.getByText("The events are sent again.").waitFor();
      const deadline = performance.now() + 30_000;
      let waiting = 0;
      while (waiting === 0 && performance.now() < deadline) ({ waiting } = await api.get(`/webhooks/${id}`));
      assert.ok(waiting > 0 && waiting <= totals.verified, `${waiting} wait`);
    },
  },
});
