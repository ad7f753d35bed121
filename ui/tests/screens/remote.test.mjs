// The service of another computer: reading it never asks, changing it asks once.

import assert from "node:assert/strict";
import { desktopHost, readerHost } from "./host.mjs";
import { group } from "./suite.mjs";

const shop = { id: "shop", name: "Shop", kind: "remote", url: "https://tags.example.com" };
const question = (page) => page.getByRole("dialog", { name: "Allow changes to Shop?" });
const count = async (api) => (await api.get("/tags?count=true&limit=1")).count;

/** The tags of the shop. */
const connected = async (page) => {
  // An earlier state of the same page may have lost it.
  await page.unrouteAll({ behavior: "wait" });
  await desktopHost(page, { answers: {}, remote: shop });
  await page.show("tags");
  await page.getByText("Bottle 48").waitFor();
};

/** Fills in a new tag, and creates it. */
const create = async (page, name) => {
  await page.getByRole("button", { name: "New tag" }).click();
  const dialog = page.getByRole("dialog", { name: "New tag" });
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByRole("button", { name: "Create" }).click();
  return dialog;
};

/** Lets the shop die, as the shell says it, and each request of it. */
const lose = async (page) => {
  const json = { status: 502, code: "unreachable", detail: "The service at https://tags.example.com does not answer (refused)." };
  await page.route("**/shop/admin/v1/**", (route) => route.fulfill({ status: 502, json }));
  await page.evaluate(() => globalThis.host.become({ lost: "The connection was refused." }));
  await line(page).waitFor();
};
const recover = async (page) => {
  await page.unrouteAll({ behavior: "wait" });
  await page.evaluate(() => globalThis.host.become({ lost: null }));
  await line(page).waitFor({ state: "detached" });
};
const line = (page) => page.getByRole("alert").getByText("Shop does not answer. The connection was refused.");
/** How often the page says that something failed. */
const complaints = async (page) => ((await page.locator("body").innerText()).match(/does not answer|could not be loaded/g) ?? []).length;

group("A remote service", {
  states: {
    "is named": connected,
    "was refused, in a dialog": async (page) => {
      await connected(page);
      const dialog = await create(page, "From afar");
      await question(page).getByRole("button", { name: "Cancel" }).click();
      await dialog.getByText("Shop is read-only in this session.").waitFor();
    },
    "does not answer": async (page) => {
      await connected(page);
      await lose(page);
    },
    "asks before the first change": async (page) => {
      await connected(page);
      await create(page, "From afar");
      await question(page).waitFor();
    },
  },
  stories: {
    "is read without a question": async (page) => {
      await connected(page);
      for (const screen of ["overview", "experiences", "interactions", "inlays", "templates", "settings/service", "settings/audit"]) {
        await page.show(screen);
        assert.equal(await question(page).count(), 0, screen);
      }
    },
    "asks once, for all changes of the session": async (page, { api }) => {
      const before = await count(api);
      await connected(page);
      await create(page, "First from afar");
      await question(page).getByText("https://tags.example.com").waitFor();
      assert.equal(await count(api), before);
      await question(page).getByRole("button", { name: "Allow changes" }).click();
      await page.getByRole("heading", { name: "First from afar" }).waitFor();
      await page.keyboard.press("Escape");
      await create(page, "Second from afar");
      await page.getByRole("heading", { name: "Second from afar" }).waitFor();
      assert.equal(await count(api), before + 2);
    },
    "remembers a refusal, keeps what was typed, and can be allowed later": async (page, { api }) => {
      const before = await count(api);
      await connected(page);
      const dialog = await create(page, "Refused at first");
      await question(page).getByRole("button", { name: "Cancel" }).click();
      await question(page).waitFor({ state: "hidden" });
      assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "Refused at first");
      await dialog.getByRole("button", { name: "Create" }).click();
      // In the dialog, where the mouse and the keyboard reach it, and nowhere else.
      await dialog.getByText("Shop is read-only in this session.").last().waitFor();
      assert.equal(await page.locator("#app .notice").count(), 0);
      assert.equal(await question(page).count(), 0);
      assert.equal(await count(api), before);
      await dialog.getByRole("button", { name: "Allow changes" }).last().press("Enter");
      await question(page).getByRole("button", { name: "Allow changes" }).click();
      await question(page).waitFor({ state: "hidden" });
      assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "Refused at first");
      await dialog.getByRole("button", { name: "Create" }).click();
      await page.getByRole("heading", { name: "Refused at first" }).waitFor();
      assert.equal(await count(api), before + 1);
    },
    "is not sent the undo of what was done here, nor any other call that is not for it": async (page, { tags }) => {
      const tag = tags.find(({ has_qr_code, status }) => !has_qr_code && status === "active");
      await desktopHost(page, { answers: {} });
      await page.show(`tags/${tag.id}`);
      await page.getByRole("tab", { name: "Inlay & QR" }).click();
      await page.getByLabel("A printed code is in use").click();
      const undo = page.getByRole("button", { name: "Undo" });
      await undo.waitFor();
      await page.evaluate((shop) => globalThis.host.connect(shop), shop);
      await page.getByText("The connection changed: earlier changes can no longer be undone here.").waitFor();
      await undo.waitFor({ state: "detached" });
      const sent = [];
      page.on("request", (request) => sent.push(new URL(request.url()).pathname));
      await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Experiences" }).click();
      await page.getByRole("heading", { name: "Experiences" }).waitFor();
      const calls = sent.filter((path) => path.includes("/admin/v1/"));
      assert.ok(calls.length > 0 && calls.every((path) => path.startsWith("/shop/admin/v1/")), calls.join(" "));
    },
    "asks before the reader's tap, which the desktop sends": async (page, { ui, api, tags }) => {
      const newest = async () => (await api.get(`/interactions?tag_id=${tags[0].id}&limit=1`)).items[0]?.id;
      const before = await newest();
      const desk = await readerHost(page, ui, {}, shop);
      await page.show("reader");
      await desk.place("04AABBCCDDEE02", `${ui.service}/t/${tags[0].slug}?uid=04AABBCCDDEE02&token=00000194EED9EE65337086`);
      const send = page.getByRole("complementary", { name: "The tap" }).getByRole("button", { name: "Send tap" });
      await send.click();
      await question(page).getByRole("button", { name: "Cancel" }).click();
      await page.getByText("Nothing was changed.").waitFor();
      assert.equal(await newest(), before);
      await page.getByText("Shop is read-only in this session.").waitFor();
      await page.getByRole("button", { name: "Allow changes" }).last().click();
      await question(page).getByRole("button", { name: "Allow changes" }).click();
      await send.click();
      await page.waitForFunction(() => !document.body.textContent.includes("Nothing was changed."));
    },
    "says once that it does not answer, and goes on by itself once it does": async (page) => {
      await connected(page);
      await lose(page);
      const screens = page.getByRole("navigation", { name: "Screens" });
      for (const name of ["Overview", "Interactions", "Submissions", "Inlays", "URL templates", "Experiences"]) {
        await screens.getByRole("link", { name, exact: true }).click();
        await page.waitForFunction((title) => document.title.startsWith(title), name);
        assert.equal(await complaints(page), 1, name);
      }
      assert.equal(await page.getByText("Product registration").count(), 0);
      await recover(page);
      await page.getByRole("heading", { name: "Experiences", exact: true }).waitFor();
      await page.getByText("Manual and downloads").first().waitFor();
      assert.equal(await complaints(page), 0);
    },
    "shows what changed meanwhile once it answers again": async (page, { api, tags }) => {
      await connected(page);
      await page.getByText(tags[46].name).first().waitFor();
      await lose(page);
      await api.patch(`/tags/${tags[46].id}`, { name: "Lamp of the night" });
      await recover(page);
      await page.getByText("Lamp of the night").waitFor();
      await api.patch(`/tags/${tags[46].id}`, { name: tags[46].name });
    },
    "does not send a change later, keeps what was typed, and forgets why it failed": async (page, { api }) => {
      await connected(page);
      await create(page, "Before the storm");
      await question(page).getByRole("button", { name: "Allow changes" }).click();
      await page.getByRole("heading", { name: "Before the storm" }).waitFor();
      await page.keyboard.press("Escape");
      const before = await count(api);
      await lose(page);
      const dialog = await create(page, "In the storm");
      const why = dialog.getByText("Shop does not answer. Nothing was changed.");
      await why.waitFor();
      await recover(page);
      await why.waitFor({ state: "detached" });
      assert.equal(await count(api), before);
      assert.equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "In the storm");
      await dialog.getByRole("button", { name: "Create" }).click();
      await page.getByRole("heading", { name: "In the storm" }).waitFor();
      assert.equal(await count(api), before + 1);
    },
    "closes notices that only say that it does not answer": async (page, { tags }) => {
      await connected(page);
      await lose(page);
      await page.getByRole("checkbox", { name: `Select ${tags[47].name}`, exact: true }).check();
      await page.getByRole("button", { name: "Archive" }).click();
      await question(page).getByRole("button", { name: "Allow changes" }).click();
      const why = page.getByText("Shop does not answer. Nothing was changed.");
      await why.waitFor();
      await recover(page);
      await why.waitFor({ state: "detached" });
    },
    "asks before a simulated visitor changes something": async (page) => {
      await connected(page);
      await page.show("simulator");
      await page.getByText("demo-bottle").click();
      await page.getByRole("button", { name: "Tap", exact: true }).click();
      await question(page).getByRole("button", { name: "Cancel" }).click();
      await page.getByText("Shop is read-only in this session.").waitFor();
    },
  },
});
