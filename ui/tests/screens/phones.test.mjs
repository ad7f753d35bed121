import assert from "node:assert/strict";
import { asksAgain } from "./browser.mjs";
import { readerHost } from "./host.mjs";
import { group } from "./suite.mjs";

const PAIR_URL = "http://192.0.2.7:8787/staff/pair/k3v9qa7mnp2rst4wxyz6bcd8fghj5klq";
const TEN_MINUTES = 600_000;
/** A picture of one pixel. */
const DOT = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/**
 * Stands in for the phones of the service, which a test cannot hold: `list` has them, and `change` is an event
 * of a phone that pairs itself.
 */
async function fakePhones(page, list = []) {
  const sent = [];
  /** `age` is the time since the creation of new phones, in milliseconds. */
  const fake = { list, sent, age: 0, change: (id) => announce({ event: "changed", kind: "phones", id }) };
  let announce = () => undefined;
  await page.route("**/admin/v1/events*", (route) => {
    announce = (event) => route.fulfill({ contentType: "text/event-stream", body: `event: changed\ndata: ${JSON.stringify(event)}\n\n` });
  });
  await page.route(/\/admin\/v1\/phones(\/\d+)?(\?.*)?$/, async (route) => {
    const method = route.request().method();
    const id = Number(/phones\/(\d+)/.exec(route.request().url())?.[1]);
    sent.push([method, route.request().postDataJSON()]);
    if (method === "GET") {
      const query = new URL(route.request().url()).searchParams;
      const left = list.filter((phone) => phone.id > Number(query.get("after") ?? 0));
      const items = left.slice(0, Number(query.get("limit") ?? 50));
      return route.fulfill({ json: { items, next: items.length < left.length ? `${items.at(-1).id}` : null } });
    }
    if (method === "DELETE") {
      list.splice(
        list.findIndex((phone) => phone.id === id),
        1,
      );
      return route.fulfill({ status: 204 });
    }
    // The page's time stands, and so does that of the stand-in: a real service's would go on, for minutes on a slow machine.
    const now = await page.evaluate(() => Date.now());
    const created_at = new Date(now - fake.age).toISOString();
    const headers = { date: new Date(now).toUTCString() };
    const next = Math.max(0, ...list.map((phone) => phone.id)) + 1;
    list.push({ ...route.request().postDataJSON(), ...unpaired, id: next, created_at });
    return route.fulfill({ status: 201, headers, json: { ...list.at(-1), pair_url: `${PAIR_URL}${next}` } });
  });
  await page.reload();
  return fake;
}

const unpaired = { paired_at: null, last_used_at: null, state: "unpaired", paired_hosts: [], unpaired_hosts: ["tags.example"] };
const anna = (now) => ({
  id: 3,
  name: "Anna",
  scopes: ["read", "encode"],
  group_ids: null,
  created_at: "2026-01-01T08:00:00Z",
  paired_at: "2026-01-01T08:01:00Z",
  last_used_at: now.toISOString(),
  expires_at: null,
  state: "active",
  paired_hosts: ["tags.example"],
  unpaired_hosts: [],
});
const shown = async (page) => {
  await page.show("settings/phones");
  await page.getByRole("heading", { name: "Staff phones" }).waitFor();
};
const begin = async (page, name) => {
  await page.getByRole("button", { name: "Pair a phone…" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
};
const showCode = (page) => page.getByRole("dialog").getByRole("button", { name: "Show code" }).click();
const code = (page) => page.getByRole("img", { name: "QR code that pairs the phone" });

group("Phones", {
  states: {
    none: async (page) => {
      await shown(page);
      await fakePhones(page);
      await page.getByText("No phones yet").waitFor();
    },
    some: async (page, { now }) => {
      await shown(page);
      await fakePhones(page, [anna(now), { ...anna(now), ...unpaired, id: 4, name: "Warehouse" }]);
      await page.getByRole("grid", { name: "Phones" }).getByText("Warehouse").waitFor();
    },
    "a new phone": async (page) => {
      await shown(page);
      await fakePhones(page);
      await begin(page, "Anna");
    },
    "a code": async (page) => {
      await shown(page);
      await fakePhones(page);
      await begin(page, "Anna");
      await showCode(page);
      await code(page).waitFor();
    },
    "a phone to be ended": async (page, { now }) => {
      await shown(page);
      await fakePhones(page, [anna(now)]);
      await page.getByRole("button", { name: "End…" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "are paired by a code, which says so as soon as the phone has opened it": async (page) => {
      await shown(page);
      const { list, sent, change } = await fakePhones(page);
      await begin(page, "Anna");
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("checkbox", { name: /^Change tags / }).check();
      await dialog.getByLabel("Last day").fill("2199-12-31");
      await showCode(page);
      await code(page).waitFor();
      const { width } = await code(page).boundingBox();
      assert.ok(width >= 300, `${width} pixels`);
      const [, body] = sent.find(([method]) => method === "POST");
      assert.deepEqual([body.name, body.scopes, body.group_ids], ["Anna", ["read", "encode", "tags"], null]);
      await dialog
        .getByRole("timer")
        .getByText(/^(10:00|9:\d\d) left$/)
        .waitFor();
      Object.assign(list[0], { state: "active", paired_at: list[0].created_at, unpaired_hosts: ["m.example"] });
      await change(list[0].id);
      await dialog.getByText("Paired", { exact: true }).waitFor();
      await dialog.getByText("press Continue for m.example").waitFor();
      assert.equal(await code(page).count(), 0);
      await dialog.getByRole("button", { name: "Close" }).click();
      assert.ok(!(await page.content()).includes(PAIR_URL));
      await page
        .getByRole("grid", { name: "Phones" })
        .getByRole("row")
        .filter({ hasText: "Anna" })
        .getByText("Not paired at m.example")
        .waitFor();
    },
    "are paired by a code also if the list is longer than a page": async (page, { now }) => {
      await shown(page);
      const before = Array.from({ length: 100 }, (_, index) => ({ ...anna(now), id: index + 1, name: `Phone ${index + 1}` }));
      const { list, change } = await fakePhones(page, before);
      await begin(page, "Anna");
      await showCode(page);
      await code(page).waitFor();
      Object.assign(list[100], { state: "active", paired_at: list[100].created_at, unpaired_hosts: [] });
      await change(list[100].id);
      await page.getByRole("dialog").getByText("Paired", { exact: true }).waitFor();
      await page.getByRole("dialog").getByText("You can close this window.").waitFor();
    },
    "show no code any more when another person has ended them": async (page) => {
      await shown(page);
      const { list, change } = await fakePhones(page);
      await begin(page, "Anna");
      await showCode(page);
      await code(page).waitFor();
      const [{ id }] = list.splice(0);
      await change(id);
      await page.getByRole("dialog").getByText("This phone was ended").waitFor();
      assert.equal(await code(page).count(), 0);
    },
    "show no code any more also if they were ended before the list had them": async (page) => {
      await shown(page);
      const { list } = await fakePhones(page);
      await page.route(/\/admin\/v1\/phones$/, async (route) => {
        if (route.request().method() !== "POST") return route.fallback();
        const created = { ...route.request().postDataJSON(), ...unpaired, id: 7, created_at: new Date().toISOString() };
        return route.fulfill({ status: 201, json: { ...created, pair_url: PAIR_URL } });
      });
      await begin(page, "Anna");
      await showCode(page);
      await page.getByRole("dialog").getByText("This phone was ended").waitFor();
      assert.deepEqual([await code(page).count(), list], [0, []]);
    },
    "get a new code when the first one has expired, and the list has one phone": async (page) => {
      await shown(page);
      const fake = await fakePhones(page);
      fake.age = TEN_MINUTES;
      await begin(page, "Warehouse");
      await showCode(page);
      await page.getByText("The code has expired.").waitFor();
      assert.equal(await code(page).count(), 0);
      fake.age = 0;
      await page.getByRole("button", { name: "Show a new code" }).click();
      await code(page).waitFor();
      await page
        .getByRole("timer")
        .getByText(/^(10:00|9:\d\d) left$/)
        .waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByRole("grid", { name: "Phones" }).getByText("Waiting").waitFor();
      assert.deepEqual(
        fake.list.map(({ id, name }) => [id, name]),
        [[2, "Warehouse"]],
      );
    },
    "are paired again at a host that was added, and work until then": async (page, { now }) => {
      await shown(page);
      const { list, change } = await fakePhones(page, [{ ...anna(now), unpaired_hosts: ["new.example"] }]);
      const row = page.getByRole("grid", { name: "Phones" }).getByRole("row").filter({ hasText: "Anna" });
      await row.getByText("Not paired at new.example").waitFor();
      await page.getByText("Not every phone is paired at new.example: its taps there are a visitor's.").waitFor();
      // The warning sends people to this button, so it is there before the pointer is.
      const again = page.getByRole("button", { name: "Pair again" });
      await page.waitForFunction((button) => getComputedStyle(button.closest(".actions")).opacity === "1", await again.elementHandle());
      await again.click();
      await code(page).waitFor();
      assert.deepEqual(
        list.map(({ id, state }) => [id, state]),
        [
          [3, "active"],
          [4, "unpaired"],
        ],
      );
      Object.assign(list[1], { state: "active", paired_at: list[1].created_at, unpaired_hosts: [] });
      await change(4);
      await page.getByRole("dialog").getByText("Paired", { exact: true }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await row.getByText("Paired", { exact: true }).waitFor();
      assert.deepEqual(
        list.map(({ id }) => id),
        [4],
      );
    },
    "are ended at once, by name": async (page, { now }) => {
      await shown(page);
      const { list } = await fakePhones(page, [anna(now)]);
      await page.getByRole("button", { name: "End…" }).click();
      await page.getByRole("dialog").getByText("It ends at once, also if the phone is lost.").waitFor();
      await page.getByRole("button", { name: "End phone" }).click();
      await page.getByText("Ended Anna.").waitFor();
      await page.getByText("No phones yet").waitFor();
      assert.deepEqual(list, []);
    },
    "reach this computer only after its listener is opened": async (page, { ui }) => {
      await readerHost(page, ui, {}, null, { phones: false });
      const tag_url = "http://192.0.2.7:8787/t";
      const check = { tag_url, state: "proved", checked_at: "2026-01-01T08:00:00Z", reason: null, detail: null };
      await page.route("**/admin/v1/tag-url", (route) => route.fulfill({ json: { tag_url, phone_url: `${tag_url}/k3v9qa`, check } }));
      await shown(page);
      await fakePhones(page);
      await begin(page, "Anna");
      await page.getByText("Phones cannot reach this computer").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Allow phones on this network" }).click();
      await page.getByText("Phones cannot reach this computer").waitFor({ state: "detached" });
    },
    "are not paired by an address that no person has agreed to": async (page) => {
      await asksAgain(page);
      await shown(page);
      await fakePhones(page);
      await begin(page, "Anna");
      await page.getByRole("dialog").getByRole("heading", { name: "Where phones reach you" }).waitFor();
      assert.ok(await page.getByRole("dialog").getByRole("button", { name: "Show code" }).isDisabled());
    },
    "leave notes and photos in the detail of their taps": async (page, { api }) => {
      const { id } = (await api.get("/interactions?limit=1")).items[0];
      const photo = { type: "image/png", digest: "a1".repeat(32) };
      const staff_note = { at: "2026-01-01T08:00:00Z", phone: "Anna", note: "Torn\nat the top", photo };
      await page.route(`**/admin/v1/interactions/${id}`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), staff_note } });
      });
      await page.route(`**/admin/v1/interactions/${id}/photo`, (route) => route.fulfill({ contentType: "image/png", body: DOT }));
      await page.show(`interactions/${id}`);
      const note = page.getByRole("region", { name: "Note of staff" });
      await note.getByText("Torn at the top").waitFor();
      await note.getByRole("img", { name: "Photo by Anna" }).waitFor();
      // A detail such as a torn edge needs the photo in its full size.
      const [saved] = await Promise.all([page.waitForEvent("download"), note.getByRole("button", { name: "Save photo…" }).click()]);
      assert.equal(saved.suggestedFilename(), `interaction-${id}.png`);
    },
    "leave taps that are marked in the list and in the detail": async (page, { api }) => {
      const { id } = (await api.get("/interactions?limit=1")).items[0];
      const marked = (tap) => ({ ...tap, staff: tap.id === id });
      await page.route(/\/admin\/v1\/interactions\?/, async (route) => {
        const response = await route.fetch();
        const list = await response.json();
        await route.fulfill({ response, json: { ...list, items: list.items.map(marked) } });
      });
      await page.route(`**/admin/v1/interactions/${id}`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: marked(await response.json()) });
      });
      await page.show("interactions");
      await page.getByText("Staff", { exact: true }).waitFor();
      assert.equal(await page.getByText("Staff", { exact: true }).count(), 1);
      await page.show(`interactions/${id}`);
      await page.getByLabel("Selected interaction").getByText("Staff", { exact: true }).waitFor();
    },
  },
});
