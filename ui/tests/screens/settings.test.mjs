import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { group } from "./suite.mjs";

const part = (key, heading) => async (page) => {
  await page.show(`settings/${key}`);
  await page.getByRole("heading", { name: heading }).first().waitFor();
};

group("Settings", {
  states: {
    service: part("service", "Settings of the service"),
    keys: part("keys", "Master keys"),
    tokens: part("tokens", "Admin tokens"),
    backup: part("backup", "Back up"),
    connections: part("connections", "Connections"),
    appearance: part("appearance", "Appearance"),
    about: part("about", "About"),
    "a token to be revoked": async (page) => {
      await part("tokens", "Admin tokens")(page);
      await page.getByRole("button", { name: "Revoke…" }).first().click();
      await page.getByRole("dialog").waitFor();
    },
  },
  stories: {
    "are changed where they may be, and read-only where the operator fixed them": async (page, { api }) => {
      await part("service", "Settings of the service")(page);
      assert.ok(await page.getByLabel("Refusals a minute").isDisabled());
      await page.getByText("Fixed by the environment of the service.").waitFor();
      await page.getByLabel("Keep interactions").fill("6");
      await page.getByRole("button", { name: "Save settings" }).click();
      await page.getByText("The settings are in force.").waitFor();
      const { retention_months } = await api.get("/settings");
      assert.deepEqual(retention_months, { value: 6, source: "stored", read_only: false });
    },
    "refuse nonsense in words where it happens": async (page) => {
      await part("service", "Settings of the service")(page);
      await page.getByLabel("Default country").fill("Nowhere");
      await page.getByRole("button", { name: "Save settings" }).click();
      await page.locator("form [role=alert]").getByText(/country/).waitFor();
    },
    "refuse what is no number, and never put another one in its place": async (page, { api }) => {
      await part("service", "Settings of the service")(page);
      const before = await api.get("/settings");
      for (const [label, text] of [
        ["Keep interactions", "12 months"],
        ["Keep interactions", ""],
        ["Keep interactions", "0"],
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
      await page.getByLabel("What the token is for").fill("A script");
      await page.getByRole("button", { name: "Create token" }).click();
      const token = await page.locator("code.token").textContent();
      assert.ok(token.length >= 32);
      await page.getByRole("button", { name: "Done" }).click();
      assert.ok(!(await page.content()).includes(token));
      await page.locator("li", { hasText: "A script" }).getByRole("button", { name: "Revoke…" }).click();
      await page.getByText("Revoke A script?").waitFor();
      await page.getByRole("button", { name: "Revoke it" }).click();
      await page.getByText("A script is revoked.").waitFor();
      const names = (await api.get("/tokens")).items.map(({ name }) => name);
      assert.ok(names.includes("Shop's web server") && !names.includes("A script"), names.join());
    },
    "save a backup and a diagnostics file without secrets": async (page, { ui }) => {
      await part("backup", "Back up")(page);
      await page.getByLabel("Passphrase", { exact: true }).fill("correct horse battery staple");
      const backup = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save a backup…" }).click();
      assert.match((await backup).suggestedFilename(), /^tapdesk-\d{4}-\d\d-\d\d\.backup$/);
      await part("about", "About")(page);
      const file = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save a diagnostics file…" }).click();
      const text = await readFile(await (await file).path(), "utf8");
      assert.ok(JSON.parse(text).settings);
      assert.ok(!text.includes(ui.token));
    },
  },
});
