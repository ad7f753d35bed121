import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { narrow } from "./browser.mjs";
import { desktopHost, kioskHost, noKioskHost, refuseForm } from "./host.mjs";
import { group } from "./suite.mjs";

const part = (key, heading) => async (page) => {
  await page.show(`settings/${key}`);
  await page.getByRole("heading", { name: heading }).first().waitFor();
};

group("Settings", {
  states: {
    service: part("service", "Service settings"),
    visitors: async (page, { api }) => {
      const app_links = [{ host: "tags.example", ios_app_ids: ["ABCDE12345.com.example.app"] }];
      await api.patch("/settings", { app_links, pages: { name: "Grand Cru", accent: "#ffd000" } });
      await part("visitors", "Visitors")(page);
      await page.getByLabel("iOS apps", { exact: true }).waitFor();
    },
    keys: part("keys", "Master keys"),
    tokens: part("tokens", "Admin tokens"),
    "a new token": async (page) => {
      await part("tokens", "Admin tokens")(page);
      await page.getByRole("button", { name: "New token…" }).click();
      await page.getByLabel("Only these").check();
      await page.getByRole("dialog").getByText("Register").first().waitFor();
    },
    audit: async (page) => {
      await part("audit", "Audit log")(page);
      await page.getByRole("grid", { name: "Audit log" }).waitFor();
    },
    "a row of the audit log": async (page) => {
      await part("audit", "Audit log")(page);
      const row = page
        .getByRole("row")
        .filter({ has: page.getByRole("button", { name: "Details", exact: true }) })
        .first();
      await row.hover();
      await row.getByRole("button", { name: "Details" }).click();
      await page.getByRole("dialog").waitFor();
    },
    webhooks: part("webhooks", "Webhooks"),
    backup: part("backup", "Backup"),
    connections: part("connections", "Connections"),
    readers: async (page) => {
      await desktopHost(page, { answers: { quiet_readers: false } });
      await part("readers", "Readers")(page);
      await page.getByRole("checkbox", { name: "Beep and light", checked: true }).waitFor();
    },
    appearance: part("appearance", "Appearance"),
    about: part("about", "About"),
    "a token to be revoked": async (page) => {
      await part("tokens", "Admin tokens")(page);
      await page.getByRole("button", { name: "Revoke…" }).first().click();
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "can be changed, except those that the operator set": async (page, { api }) => {
      await part("service", "Service settings")(page);
      assert.ok(await page.getByLabel("Rate limit").isDisabled());
      await page.getByText("Read-only: set by the environment of the service.").waitFor();
      await page.getByLabel("Retention").fill("6");
      await page.getByRole("button", { name: "Save settings" }).click();
      await page.getByText("Settings saved.").waitFor();
      const { retention_months } = await api.get("/settings");
      assert.deepEqual(retention_months, { value: 6, source: "stored", read_only: false });
    },
    "of pages for visitors are shown before they are saved": async (page, { api }) => {
      await api.patch("/settings", { pages: null });
      await part("visitors", "Visitors")(page);
      const preview = page.getByRole("figure");
      await preview.getByText("No tag has this address.").waitFor();
      await page.getByLabel("Your name").fill("Grand Cru");
      // The form is longer than the window: nothing of it shows below its bar.
      const bar = page.locator(".changes", { has: page.getByRole("button", { name: "Save pages" }) });
      assert.equal(await bar.evaluate((bar) => Math.round(innerHeight - bar.getBoundingClientRect().bottom)), 0);
      await page.getByLabel("Language").selectOption("German");
      await preview.getByText("Kein Tag hat diese Adresse.").waitFor();
      await page.getByLabel("Heading").fill("Nichts <b>hier</b>");
      await preview.getByText("Nichts <b>hier</b>").waitFor();
      await page.getByLabel("Redirect of the page at /").fill("javascript:alert(1)");
      await page.getByRole("button", { name: "Save pages" }).click();
      await page.getByText("The page at / redirects to an https or http URL").waitFor();
      await page.getByLabel("Redirect of the page at /").fill("");
      await page.getByRole("button", { name: "Save pages" }).click();
      await page.getByText("Pages saved.").waitFor();
      const { value } = (await api.get("/settings")).pages;
      assert.deepEqual(value, { name: "Grand Cru", texts: [{ page: "not_found", language: "de", heading: "Nichts <b>hier</b>" }] });
      const picture = await readFile(new URL("../../../src-tauri/icons/32x32.png", import.meta.url));
      const choose = (name, file) => page.getByLabel(name).setInputFiles(file);
      await choose("Add logo…", { name: "logo.png", mimeType: "image/png", buffer: picture });
      await page.getByText("Logo added.").waitFor();
      await preview.locator("img").waitFor();
      await choose("Replace logo…", { name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("a") });
      await page.getByText("list.csv is no PNG, JPEG, WebP or GIF.").waitFor();
      await page.getByRole("button", { name: "Remove logo" }).click();
      await page.getByText("Logo removed.").waitFor();
      await preview.locator("svg").waitFor();
    },
    "of apps are lines of text, with errors at their fields": async (page, { api }) => {
      await api.patch("/settings", { app_links: null });
      await part("visitors", "Visitors")(page);
      await page.getByRole("button", { name: "Add host" }).click();
      await page.getByLabel("Host", { exact: true }).fill("tags.example");
      await page.getByLabel("iOS apps", { exact: true }).fill("com.example.app");
      await page.getByRole("button", { name: "Save apps" }).click();
      await page.getByText("An iOS app's id is its prefix").waitFor();
      await page.getByLabel("iOS apps", { exact: true }).fill("ABCDE12345.com.example.app");
      await page.getByLabel("Android apps").fill(`com.example.app ${"14".repeat(32)}`);
      await page.getByRole("button", { name: "Save apps" }).click();
      await page.getByText("Apps saved.").waitFor();
      const { value } = (await api.get("/settings")).app_links;
      assert.deepEqual(
        value.map(({ host, ios_app_ids }) => [host, ios_app_ids]),
        [["tags.example", ["ABCDE12345.com.example.app"]]],
      );
      assert.equal(value[0].android_apps[0].sha256_cert_fingerprints[0].length, 95);
      await page.getByRole("button", { name: "Remove tags.example" }).click();
      await page.getByRole("button", { name: "Save apps" }).click();
      await page.getByText("No apps yet").waitFor();
    },
    "everything can be made larger, by a choice and by keys, for good": async (page) => {
      await desktopHost(page, { answers: {} });
      await part("appearance", "Appearance")(page);
      const scaled = () => page.evaluate(() => globalThis.host.scaled);
      const scale = page.getByLabel("Scale");
      await scale.selectOption("150 %");
      assert.deepEqual(await scaled(), [150]);
      // A page that is loaded again is as large as before.
      await part("appearance", "Appearance")(page);
      assert.deepEqual(await scaled(), [150]);
      assert.equal(await scale.inputValue(), "150");
      await page.keyboard.press("Control+-");
      await page.keyboard.press("Control+Shift++");
      await page.keyboard.press("Control+Equal");
      assert.deepEqual(await scaled(), [150, 125, 150, 175]);
      assert.equal(await scale.inputValue(), "175");
      await page.keyboard.press("Control+0");
      assert.equal(await scale.inputValue(), "100");
    },
    "have no scale in a browser, which has its own": async (page) => {
      await part("appearance", "Appearance")(page);
      assert.equal(await page.getByLabel("Scale").count(), 0);
    },
    "single-key shortcuts can be turned off, for good, and on again": async (page) => {
      await part("appearance", "Appearance")(page);
      const single = page.getByRole("checkbox", { name: "Single-key shortcuts" });
      await single.uncheck();
      await page.show("tags");
      await page.keyboard.press("?");
      await page.keyboard.press("n");
      assert.equal(await page.getByRole("dialog").count(), 0);
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await part("appearance", "Appearance")(page);
      await single.check();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    },
    "refuse an invalid value, with the reason in the form": async (page) => {
      await part("service", "Service settings")(page);
      const field = page.getByLabel("Default country");
      await field.fill("Nowhere");
      await page.getByRole("button", { name: "Save settings" }).click();
      await page
        .locator("form .error")
        .getByText(/country/)
        .waitFor();
      assert.equal(await field.getAttribute("aria-invalid"), "true");
      assert.equal(await field.inputValue(), "Nowhere");
    },
    "refuse what is no number, and never put another one in its place": async (page, { api }) => {
      await part("service", "Service settings")(page);
      const before = await api.get("/settings");
      for (const [label, text] of [
        ["Retention", "12 months"],
        ["Retention", ""],
        ["Retention", "0"],
        ["app_id", "one"],
      ]) {
        await page.getByLabel(label).fill(text);
        await page.getByRole("button", { name: "Save settings" }).click();
        await page.getByText(new RegExp(`^${label}: enter a whole number`)).waitFor();
        assert.equal(await page.getByLabel(label).inputValue(), text);
        await page.getByRole("button", { name: "Discard changes" }).click();
      }
      assert.deepEqual(await api.get("/settings"), before);
    },
    "show a new token once, and revoke it by name": async (page, { api }) => {
      await part("tokens", "Admin tokens")(page);
      await page.getByRole("button", { name: "New token…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name").fill("A script");
      await dialog.getByRole("checkbox", { name: /^Tags / }).check();
      await dialog.getByLabel("Last day").fill("2199-12-31");
      await dialog.getByRole("button", { name: "Create token" }).click();
      const token = await page.getByRole("dialog", { name: "Your new token" }).locator("code").textContent();
      assert.match(token, /^tapdesk_\w{43}$/);
      const made = (await api.get("/tokens")).items.find(({ name }) => name === "A script");
      assert.deepEqual(made.scopes, ["read", "tags"]);
      assert.match(made.expires_at, /^2199-12-31|^2200-01-01/);
      // Nothing but its button takes it away.
      await page.keyboard.press("Escape");
      await page.mouse.click(4, 4);
      await page.getByText(token).waitFor();
      await page.getByRole("button", { name: "Copy", exact: true }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Close", exact: true }).click();
      await page.getByText(token).waitFor({ state: "detached" });
      assert.ok(!(await page.content()).includes(token));
      await page.getByRole("row").filter({ hasText: "A script" }).getByRole("button", { name: "Revoke…" }).click();
      await page.getByText("Revoke A script?").waitFor();
      await page.getByRole("button", { name: "Revoke token" }).click();
      await page.getByText("Revoked A script.").waitFor();
      const names = (await api.get("/tokens")).items.map(({ name }) => name);
      assert.ok(names.includes("Shop's web server") && !names.includes("A script"), names.join());
    },
    "show who changed what, and check that nobody changed the log": async (page, { api }) => {
      await part("audit", "Audit log")(page);
      await page.getByLabel("Object").fill("tokens");
      const [newest] = (await api.get("/audit?object=tokens")).items;
      const row = page.locator(`[data-id="${newest.id}"]`).first();
      await row.getByText(newest.after?.name ?? newest.before.name).waitFor();
      await row.getByRole("button", { name: "Details" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(newest.object, { exact: true }).waitFor();
      await dialog.getByText("Technical").click();
      await dialog.getByText(newest.hash).waitFor();
      await dialog.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Check", exact: true }).click();
      await page.getByText("no entry was changed or removed").waitFor();
      const file = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export…" }).click();
      const text = await readFile(await (await file).path(), "utf8");
      assert.ok(text.includes(newest.hash));
    },
    "sum up changes that repeat, open them, and keep the filter in the address": async (page, { api }) => {
      for (let number = 0; number < 3; number++) await api.post("/tags", { name: `Same ${number}`, slug: `same-00${number}` });
      await part("audit", "Audit log")(page);
      await narrow(page, "Change", "Tags");
      assert.match(page.url(), /action=tags/);
      const summary = page
        .getByRole("row")
        .filter({ hasText: /Created \d+ tags/ })
        .first();
      await summary.hover();
      await summary.getByRole("button", { name: "Show all" }).click();
      await page.getByRole("row").filter({ hasText: "Created tag Same 2" }).waitFor();
      await summary.getByRole("button", { name: "Hide" }).click();
      await page.getByRole("row").filter({ hasText: "Created tag Same 2" }).waitFor({ state: "detached" });
    },
    "offer only what the connection may do": async (page, { tags }) => {
      const may = { id: 3, name: "Field", scopes: ["read"], experience_ids: [1], expires_at: null };
      await page.route("**/admin/v1/tokens/current", (route) => route.fulfill({ json: may }));
      await page.reload();
      await page.show("settings");
      const sections = page.getByRole("navigation", { name: "Settings sections" });
      await sections.getByRole("link", { name: "Connections" }).waitFor();
      assert.deepEqual(await sections.getByRole("link").allTextContents(), ["Connections", "Kiosk", "Appearance", "About"]);
      const screens = page.getByRole("navigation", { name: "Screens" });
      assert.deepEqual(
        (await screens.getByRole("link").allTextContents()).map((name) => name.trim()),
        ["Tags", "Experiences", "Interactions", "Submissions", "Kiosk", "Settings"],
      );
      await page.show(`tags/${tags[46].id}`);
      await page.getByRole("tab", { name: "Details" }).waitFor();
      const names = async (root = page.locator("main")) =>
        (await root.getByRole("button").allTextContents()).map((name) => name.trim()).filter(Boolean);
      for (const part of ["Details", "Properties", "Inlay & QR", "Location", "Taps"]) {
        await page.getByRole("tab", { name: part }).click();
        for (const refused of [
          "Save",
          "Save properties",
          "Save location",
          "Add",
          "Edit…",
          "Unbind",
          "Add inlay…",
          "Erase visitor data…",
          "New tag",
          "Import…",
          "Export",
        ]) {
          assert.ok(!(await names()).includes(refused), `${part}: ${refused}`);
        }
      }
      assert.equal(await page.getByRole("button", { name: /^More actions for/ }).count(), 0);
      await page.show("experiences/1");
      await page.getByRole("heading", { name: "Versions" }).waitFor();
      assert.ok(await page.getByLabel("Name", { exact: true }).isDisabled());
      assert.deepEqual(await names(), ["Last 30 days", "Compare"]);
    },
    "show who can reach the service, also after a change of that was refused": async (page) => {
      await kioskHost(page);
      await part("service", "Listener")(page);
      // Checked once the listener's state is known.
      const phones = page.getByRole("checkbox", { name: "Allow phones on this network", checked: true });
      await phones.waitFor();
      await refuseForm(page, "allow_phones", "Port 8787 is used by another program.", []);
      await phones.click();
      await page.getByText("Port 8787 is used by another program.").waitFor();
      await phones.waitFor();
    },
    "make readers quiet, also after a change of that was refused": async (page) => {
      await desktopHost(page, { answers: { quiet_readers: false } });
      await part("readers", "Readers")(page);
      const on = page.getByRole("checkbox", { name: "Beep and light", checked: true });
      await on.waitFor();
      await refuseForm(page, "set_quiet_readers", "The choice cannot be stored.", []);
      await on.click();
      await page.getByText("The choice cannot be stored.").waitFor();
      await on.waitFor();
      await page.evaluate(() => delete globalThis.host.refused.set_quiet_readers);
      await on.click();
      await page.getByRole("checkbox", { name: "Beep and light", checked: false }).waitFor();
      assert.equal(await page.evaluate(() => globalThis.host.quiet), true);
    },
    "replace the wrapping key, and say how far that is": async (page) => {
      await kioskHost(page);
      await part("backup", "Wrapping key")(page);
      await page.getByText("is in the system's keychain").waitFor();
      await page.getByRole("button", { name: "Replace key…" }).click();
      await page.getByRole("dialog").getByText("Meanwhile no tap is answered").waitFor();
      await page.getByRole("button", { name: "Replace key", exact: true }).click();
      const rotate = (progress) => page.evaluate((progress) => globalThis.host.rotate(progress), progress);
      await page.getByText("Checking that every secret opens…").waitFor();
      await rotate({ phase: "wrapping", done: 200, total: 1204 });
      await page.getByText("Encrypting secrets with the new key: 200 of 1,204").waitFor();
      const bar = page.getByRole("progressbar", { name: "Replacing the wrapping key" });
      assert.deepEqual(await bar.evaluate(({ value, max }) => [value, max]), [200, 1204]);
      await rotate(null);
      await page.getByText("There is a new wrapping key. Make a backup with a passphrase.").waitFor();
      await page.getByRole("button", { name: "Replace key…" }).waitFor();
      // One that was interrupted is finished by the next start, before any screen is there.
      const progress = { phase: "wrapping", done: 400, total: 1204 };
      await page.evaluate((progress) => globalThis.host.stands({ phase: "rotating", progress }), progress);
      await page.getByText("Encrypting secrets with the new key: 400 of 1,204").waitFor();
    },
    "say so where there is no kiosk, and offer nothing of it": async (page) => {
      await noKioskHost(page, "The kiosk runs on Linux alone so far.");
      await part("kiosk", "Kiosk")(page);
      await page.getByText("The kiosk runs on Linux alone so far.").waitFor();
      assert.equal(await page.getByRole("button", { name: "Start kiosk" }).count(), 0);
      assert.equal(await page.getByText("Set a PIN first").count(), 0);
    },
    "offer the details of every row of the audit log without a pointer over it": async (page) => {
      await part("audit", "Audit log")(page);
      const rows = page.locator("[data-row]");
      await rows.first().waitFor();
      await page.mouse.move(0, 0);
      const hidden = await rows.evaluateAll(
        (all) =>
          all.filter((row) => {
            const actions = row.querySelector(".actions");
            return !actions?.querySelector("button") || getComputedStyle(actions).opacity === "0";
          }).length,
      );
      assert.equal(hidden, 0);
    },
    "look for a newer version only where the owner says, and say why that failed": async (page) => {
      await desktopHost(page, { answers: {} });
      await part("about", "About")(page);
      const check = page.getByRole("button", { name: "Check now" });
      assert.ok(await check.isDisabled(), "there is no address yet");
      await refuseForm(page, "choose_release_source", "It is none.", [{ field: "url", message: "It is none." }]);
      await page.getByLabel("Address of the release file").fill("https://tapdesk.example/latest.json");
      await page.getByLabel("Public key").fill("RWSJ");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("It is none.").first().waitFor();
      const source = { url: "https://tapdesk.example/latest.json", public_key: "RWSJ" };
      const releases = { source, looked_at: new Date().toISOString(), found: null, problem: null };
      const become = (changes) => page.evaluate((releases) => globalThis.host.become({ releases }), { ...releases, ...changes });
      await become({});
      await page.getByText("You have the newest version.").waitFor();
      await become({ problem: "The file was not signed with your key, so it was ignored." });
      await page.getByText("The file was not signed with your key, so it was ignored.").waitFor();
    },
    "say what the release was tested on, and what it was not": async (page) => {
      await part("about", "About")(page);
      const said = page.getByRole("region", { name: "Tested on" });
      for (const name of ["Systems", "Readers", "Chips"]) await said.getByText(name, { exact: true }).waitFor();
      await said.getByText("Debian 12").waitFor();
      await said.getByText("Not tested: other Linux distributions, Windows, macOS.").waitFor();
      await said.getByText("Not tested: any physical reader").waitFor();
      await said.getByText("Not tested: any physical chip").waitFor();
    },
    "keep the passphrase of a backup that was refused": async (page) => {
      await desktopHost(page, { answers: {} });
      await part("backup", "Backup")(page);
      await refuseForm(page, "restore_backup", "The passphrase is wrong.", []);
      await page.getByRole("button", { name: "Restore backup…" }).click();
      const asked = page.getByRole("dialog", { name: "Restore backup" });
      await asked.getByLabel("Passphrase").fill("correct horse battery stable");
      await asked.getByRole("button", { name: "Choose file…" }).click();
      await asked.getByRole("alert").getByText("The passphrase is wrong.").waitFor();
      assert.equal(await asked.getByLabel("Passphrase").inputValue(), "correct horse battery stable");
    },
    "restore a backup that is chosen from a bucket": async (page, { api }) => {
      const names = ["tapdesk-20260102T120000Z.backup", "tapdesk-20260101T120000Z.backup"];
      const found = names.map((name, place) => ({ name, bytes: 2_000_000 - place }));
      await desktopHost(page, { answers: { bucket_backups: found, restore_from_bucket: names[1] } });
      await part("backup", "Backup")(page);
      await page.getByRole("button", { name: "Restore from bucket…" }).click();
      const asked = page.getByRole("dialog", { name: "Restore backup from bucket" });
      const { destination } = await api.get("/backup/schedule");
      assert.equal(destination, null, "a bucket would be offered");
      await asked.getByLabel("Bucket", { exact: true }).fill("s3://backups/shop");
      await asked.getByLabel("Server URL").fill("https://s3.example.com");
      await asked.getByLabel("Access key", { exact: true }).fill("AKIATAPDESK");
      await asked.getByLabel("Secret access key").fill("a secret");
      await asked.getByRole("button", { name: "Show backups" }).click();
      const backups = asked.getByRole("radio");
      await backups.nth(1).waitFor();
      assert.equal(await backups.count(), 2);
      assert.ok(await backups.first().isChecked(), "the newest is chosen");
      await asked.getByText("2 MB").first().waitFor();
      await asked.getByText("Restoring moves the current database aside. It is not deleted.").waitFor();
      // Another bucket has other backups, also if its name is entered while the former one is listed.
      await asked.getByLabel("Region").fill("eu-west-1");
      await page.evaluate(() => (globalThis.host.listing = {}));
      await asked.getByRole("button", { name: "Show backups" }).click();
      await asked.getByLabel("Region").fill("eu-central-1");
      await page.evaluate((found) => globalThis.host.listing.done(found), found);
      await asked.locator("button.primary:enabled").waitFor();
      assert.equal(await backups.count(), 0, "a list of another bucket is shown");
      await page.evaluate(() => delete globalThis.host.listing);
      await asked.getByRole("button", { name: "Show backups" }).click();
      await backups.nth(1).check();
      await refuseForm(page, "restore_from_bucket", "Wrong passphrase.", []);
      await asked.getByLabel("Passphrase").fill("correct horse battery stable");
      await asked.getByRole("button", { name: "Restore", exact: true }).click();
      await asked.getByRole("alert").getByText("Wrong passphrase.").waitFor();
      assert.ok(await backups.nth(1).isChecked(), "the choice stays");
      assert.equal(await asked.getByLabel("Passphrase").inputValue(), "correct horse battery stable");
      await page.evaluate(() => {
        delete globalThis.host.refused.restore_from_bucket;
        globalThis.host.download = {};
      });
      await asked.getByRole("button", { name: "Restore", exact: true }).click();
      await asked.getByText("Downloading…").waitFor();
      await page.evaluate(() => globalThis.host.download.tell(1_000_000));
      await asked.getByText("1 MB of 2 MB").waitFor();
      await page.keyboard.press("Escape");
      await asked.getByRole("button", { name: "Stop" }).click();
      await asked.getByRole("button", { name: "Cancel" }).waitFor();
      assert.ok(await backups.nth(1).isChecked(), "a stopped download keeps the choice");
      assert.equal(await page.getByText(/^Restored/).count(), 0, "nothing was restored");
      await page.evaluate(() => delete globalThis.host.download);
      await asked.getByRole("button", { name: "Restore", exact: true }).click();
      await page.getByText(`Restored ${names[1]}.`).waitFor();
      await asked.waitFor({ state: "detached" });
      // Whoever opens it later is not given the secret.
      const again = page.getByRole("button", { name: "Restore from bucket…" });
      await again.click();
      await asked.getByLabel("Secret access key").fill("a secret");
      // Nor does a downloaded backup stay whose passphrase was wrong.
      const forgotten = () => page.evaluate(() => globalThis.host.forgotten);
      const before = await forgotten();
      await asked.getByRole("button", { name: "Cancel" }).click();
      await again.click();
      assert.equal(await forgotten(), before + 1);
      assert.equal(await asked.getByLabel("Secret access key").inputValue(), "");
    },
    "save a backup and a diagnostics file without secrets": async (page, { ui }) => {
      await part("backup", "Backup")(page);
      await page.getByLabel("Passphrase", { exact: true }).fill("correct horse battery staple");
      await page.getByLabel("Repeat passphrase").fill("correct horse battery staple");
      const backup = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save backup…" }).click();
      assert.match((await backup).suggestedFilename(), /^tapdesk-\d{4}-\d\d-\d\d\.backup$/);
      await part("about", "About")(page);
      const file = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save diagnostics…" }).click();
      const text = await readFile(await (await file).path(), "utf8");
      assert.ok(JSON.parse(text).settings);
      assert.ok(!text.includes(ui.token));
    },
  },
});
