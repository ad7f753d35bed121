// What the service refuses is said at the field that it is about, in every form; what no
// field shows is said for the form. The answers are made up, for every field of each form.

import assert from "node:assert/strict";
import { kioskHost, refuseForm } from "./host.mjs";
import { group } from "./suite.mjs";

const equipped = async ({ api }) => (await api.get("/inlays?limit=1")).items[0].tag_id;
const button = (page, name) => page.getByRole("button", { name, exact: true }).click();

/**
 * Each form: the way to it, the fields (and groups of fields) with the names that the service has for them, the
 * operation of the service or the command of the shell that is refused, and the button that sends.
 */
const forms = {
  "a tag's details": {
    path: "/tags/*",
    send: "Save",
    async show(page, world) {
      await page.show(`tags/${await equipped(world)}`);
      await page.getByLabel("Description").fill("Changed");
    },
    fields: {
      name: "Name",
      slug: "Slug",
      title: "Title",
      description: "Description",
      language_code: "Language",
      experience_id: "Experience",
    },
  },
  "a tag's location": {
    path: "/tags/*",
    send: "Save location",
    async show(page, world) {
      await page.show(`tags/${await equipped(world)}?part=location`);
      await page.getByLabel("Street and number").fill("Kramgasse 1");
      await page.getByLabel("Latitude").fill("46.9");
      await page.getByLabel("Longitude").fill("7.4");
    },
    fields: {
      "location.street": "Street and number",
      "location.lat": "Latitude",
      "location.lon": "Longitude",
      "location.venue_name": "Venue",
      "location.dma": "Market area",
    },
  },
  "a tag's properties": {
    path: "/tags/*/variables/*",
    method: "PUT",
    send: "Save properties",
    async show(page, world) {
      await page.show(`tags/${await equipped(world)}?part=properties`);
      await page.getByLabel("Value of owner").fill("Ada");
    },
    // The answer is about one property, and calls it "value".
    fields: { value: "Value of owner" },
  },
  "a new tag": {
    path: "/tags",
    send: "Create",
    async show(page) {
      await page.show("tags?new=tag");
      await page.getByRole("dialog").getByLabel("Name").fill("Flask");
    },
    fields: { name: "Name", slug: "Slug", experience_id: "Experience" },
  },
  "a new inlay": {
    path: "/inlays",
    send: "Add inlay",
    async show(page, world) {
      await page.show(`tags/${await equipped(world)}?part=inlay`);
      await button(page, "Add inlay…");
      await page.getByLabel("UID").fill("04DE5F1EACC0FF");
      await page.getByLabel(/^File key/).fill("0".repeat(32));
    },
    fields: { uid: "UID", file_key: /^File key/ },
  },
  "a token": {
    path: "/tokens",
    send: "Create token",
    async show(page) {
      await page.show("settings/tokens");
      await button(page, "New token…");
      await page.getByRole("dialog").getByLabel("Name").fill("Shop");
    },
    fields: { name: "Name", expires_at: "Last day" },
  },
  "a master key": {
    path: "/master-keys",
    send: "Add master key",
    async show(page) {
      await page.show("settings/keys?new=key");
      await page.getByLabel("Name").fill("Roll");
      await page.getByLabel("Key", { exact: true }).fill("1".repeat(32));
      await page.getByLabel("Diversification input").fill("{uid}");
    },
    fields: { name: "Name", key: "Key", "derivation.input": "Diversification input" },
  },
  "a test sheet": {
    path: "/sheets",
    send: "Create sheet",
    async show(page) {
      await page.show("sheets?new=sheet");
      await page.getByLabel("Name", { exact: true }).fill("Delivery");
    },
    fields: {
      name: "Name",
      planned: "Inlays",
      "expected.tag_url": "Expected base URL",
      "expected.experience_id": "Expected experience",
      "expected.locked": "Expected write access",
    },
  },
  "a virtual inlay": {
    path: "/simulator/inlays",
    send: "Create",
    show: (page) => page.show("simulator?new=inlay"),
    fields: { "tag.name": "Tag name", "tag.experience_id": "Experience", mirror: "Code in the URL" },
  },
  "an encoding run": {
    path: "/encoding-runs",
    send: "Create run of 50 inlays",
    async show(page) {
      await page.show("encode");
      await button(page, "New run");
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Roll");
    },
    fields: {
      name: "Name",
      planned: "Inlays",
      "plan.pattern": "Names",
      "plan.experience_id": "Experience",
      "plan.url_template_id": "Chip and URL",
    },
  },
  "an experience": {
    path: "/experiences/*",
    send: "Save draft",
    async show(page) {
      await page.show("experiences/1");
      await page.getByLabel("Name", { exact: true }).fill("Register, changed");
    },
    fields: { name: "Name", target_url: "Destination URL" },
  },
  "a new experience": {
    path: "/experiences",
    send: "Create",
    async show(page) {
      await page.show("experiences?new=experience");
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name", { exact: true }).fill("Shop");
      await dialog.getByLabel("Destination URL").fill("https://shop.example.com/");
    },
    fields: { name: "Name", target_url: "Destination URL" },
  },
  "a URL template": {
    path: "/url-templates",
    send: "Create",
    async show(page) {
      await page.show("templates/new");
      await page.getByLabel("Name", { exact: true }).fill("Bottles");
      await page.getByLabel("URL with placeholders").fill("https://tags.example.com/v?picc_data={picc}&cmac={mac}");
    },
    fields: { name: "Name", template: "URL with placeholders" },
  },
  "the search for a format": {
    path: "/url-templates/solve",
    send: "Find the format",
    async show(page) {
      await page.show("move?step=service");
      await page.getByRole("button", { name: "Another service, or my own list" }).click();
      await page.getByLabel("URLs").fill("https://old.example/v?uid=04DE5F1EACC040");
    },
    fields: { urls: "URLs", keys: "Keys", master_keys: "Master keys" },
  },
  "the service's settings": {
    path: "/settings",
    send: "Save settings",
    async show(page) {
      await page.show("settings/service");
      await page.getByLabel("Retention").fill("7");
    },
    fields: { retention_months: "Retention", default_country: "Default country" },
  },
  "a webhook": {
    path: "/webhooks",
    send: "Create webhook",
    async show(page) {
      await page.show("settings/webhooks");
      await button(page, "New webhook…");
      await page.getByRole("dialog").getByLabel("URL", { exact: true }).fill("https://shop.example.com/hook");
      await button(page, "Add attribute");
      await page.getByLabel("Key of attribute 1").fill("sku");
    },
    fields: { url: "URL", "filter.experience_id": "Experience", "filter.world": "Tags" },
    groups: { events: "Events", "filter.attribute": "Only tags with these attributes", include: "Events also contain" },
  },
  "a mail server": {
    path: "/mail",
    send: "Save mail server",
    async show(page) {
      await page.show("settings/notifications?edit=mail");
      await page.getByLabel("Host").fill("mail.example.com");
      await page.getByLabel("From").fill("tapdesk@example.com");
    },
    fields: { host: "Host", port: "Port", security: "Security", user: "User", password: "Password", from: "From" },
  },
  "a notification by mail": {
    path: "/notifications",
    send: "Create notification",
    async show(page) {
      await page.show("settings/notifications?edit=new");
      await page.getByLabel("Mail addresses").fill("anna@example.com");
    },
    fields: { "channel.mail[0]": "Mail addresses", every: "Later alerts", time_zone: "Time zone" },
    groups: { kind: "Kind", events: "Alerts" },
  },
  "a notification to a chat": {
    path: "/notifications",
    send: "Create notification",
    async show(page) {
      await page.show("settings/notifications?edit=new");
      await page.getByRole("radio", { name: /^Report/ }).check();
      await page.getByLabel("To a chat").check();
      await page.getByLabel("URL of the chat").fill("https://chat.example.com/hooks/x");
    },
    fields: { "channel.chat": "URL of the chat", every: "Period", time_zone: "Time zone" },
  },
  "a backup": {
    path: "/backup",
    send: "Save backup…",
    async show(page) {
      await page.show("settings/backup");
      await page.getByLabel("Passphrase", { exact: true }).fill("short");
      await page.getByLabel("Repeat passphrase").fill("short");
    },
    fields: { passphrase: "Passphrase" },
  },
  "the schedule of backups": {
    path: "/backup/schedule",
    send: "Save schedule",
    async show(page) {
      await page.show("settings/backup");
      await page.getByLabel("Destination").fill("backups");
    },
    fields: {
      destination: "Destination",
      every_hours: "Time between backups",
      keep: "Backups kept",
      passphrase: "Passphrase of scheduled backups",
    },
  },
  "a bucket with backups": {
    command: "bucket_backups",
    send: "Show backups",
    async show(page) {
      await kioskHost(page);
      await page.show("settings/backup");
      await page.getByRole("button", { name: "Restore from bucket…" }).click();
      await page.getByLabel("Bucket", { exact: true }).fill("backups");
    },
    fields: {
      path: "Bucket",
      endpoint: "Server URL",
      region: "Region",
      access_key: "Access key",
      secret: "Secret access key",
    },
  },
  "a connection": {
    command: "add_connection",
    send: "Add connection",
    async show(page) {
      await kioskHost(page);
      await page.show("settings/connections");
      await page.getByLabel("Name").fill("Shop");
      await page.getByLabel("Server URL").fill("https://shop.example.com");
      await page.getByLabel("Token").fill("a token that nobody has ever given out");
    },
    fields: { name: "Name", url: "Server URL", token: "Token" },
  },
  "the kiosk's settings": {
    command: "kiosk_choose",
    send: "Save",
    async show(page) {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByLabel("Heading").fill("Tap here");
    },
    fields: {
      heading: "Heading",
      text: "Text",
      name: "Your name",
      colour: "Colour",
      display: "Display",
      picture_seconds: "Each picture is shown for",
      idle_seconds: "A visit ends after",
      hosts: "Allowed hosts",
    },
  },
  "the kiosk's PIN": {
    command: "kiosk_set_pin",
    send: "Change PIN",
    async show(page) {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByLabel("PIN", { exact: true }).fill("2580");
      await page.getByLabel("Repeat PIN").fill("2580");
    },
    fields: { pin: "PIN" },
  },
};

const writes = ["POST", "PATCH", "PUT"];

/** Refuses what `form` sends, with these errors, until it is taken away. */
async function refuse(page, { path, method, command }, errors) {
  if (command) return refuseForm(page, command, "The body is invalid.", errors);
  const refused = {
    status: 422,
    contentType: "application/problem+json",
    body: JSON.stringify({ detail: "The body is invalid.", code: "invalid", errors }),
  };
  await page.route(`**/admin/v1${path}`, (route) => {
    const asked = route.request().method();
    return (method ? asked === method : writes.includes(asked)) ? route.fulfill(refused) : route.fallback();
  });
}

/** The text that describes a field to those who do not see it. */
const described = (field) =>
  field.evaluate((one) =>
    (one.getAttribute("aria-describedby") ?? "")
      .split(" ")
      .map((id) => document.getElementById(id)?.textContent ?? "")
      .join(" "),
  );

const tests = Object.entries(forms).map(([name, form]) => [
  `of ${name} are said at each field`,
  async (page, world) => {
    const groups = form.groups ?? {};
    const errors = Object.keys({ ...form.fields, ...groups }).map((field) => ({ field, message: `Refused: ${field}.` }));
    await form.show(page, world);
    await refuse(page, form, errors);
    const root = (await page.getByRole("dialog").count()) > 0 ? page.getByRole("dialog") : page.locator("main");
    await root.getByRole("button", { name: form.send, exact: true }).click();
    await root.getByRole("alert").first().waitFor();
    for (const [field, label] of Object.entries(form.fields)) {
      const control = root.getByLabel(label, { exact: typeof label === "string" }).first();
      const message = name === "a tag's properties" ? "The body is invalid." : `Refused: ${field}.`;
      assert.ok((await described(control)).includes(message), `${field} at ${label}: ${await described(control)}`);
      assert.equal(await control.getAttribute("aria-invalid"), "true", `${label} is not marked`);
    }
    for (const [field, label] of Object.entries(groups)) {
      assert.ok(
        (await described(root.getByRole("group", { name: label, exact: true }))).includes(`Refused: ${field}.`),
        `${field} at ${label}`,
      );
    }
    assert.ok(!(await root.getByRole("alert").allTextContents()).includes("The body is invalid.") || name === "a tag's properties");
  },
]);

group("What the service refuses", {
  states: {
    "fields that are refused": async (page, world) => {
      const form = forms["a tag's location"];
      await form.show(page, world);
      await refuse(page, form, [{ field: "location.lat", message: "Too far north." }]);
      await button(page, "Save location");
      await page.getByText("Too far north.").waitFor();
      await page.unroute("**/admin/v1/tags/*");
    },
  },
  stories: {
    ...Object.fromEntries(tests.map(([name, run]) => [`errors ${name}`, run])),
    "leads to the field that it is about, however far above the button": async (page, world) => {
      const template = "https://far.example.com/v?u={uid}&c={counter}&m={mac}";
      const { id } = await world.api.post("/url-templates", { name: "Far above", template, technology: "ntag424dna" });
      await page.show(`templates/${id}`);
      const field = page.getByLabel("URL with placeholders");
      await field.fill("https://far.example.com/v?u={uid}&c={count}&m={mac}");
      await page.getByText("Encoding sheet").scrollIntoViewIfNeeded();
      await button(page, "Save");
      await page.getByText("is no placeholder").waitFor();
      await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
      await field.and(page.locator(":focus")).waitFor();
      assert.ok((await field.boundingBox()).y > 44, "it is out of sight");
    },
    "of the blocks of a page are said below them, for the form says no more than its fields do not": async (page, world) => {
      const { id } = (await world.api.get("/experiences?limit=200")).items.find(({ name }) => name === "Lost and found");
      await page.show(`experiences/${id}`);
      await page.getByLabel("Name", { exact: true }).fill("Found");
      await refuse(page, { path: "/experiences/*", method: "PATCH" }, [
        { field: "blocks[2].fields[0].label", message: "A field needs a label." },
      ]);
      await button(page, "Save draft");
      await page.getByRole("alert").getByText("A field needs a label.").waitFor();
      assert.equal(await page.getByText("The body is invalid.").count(), 0);
    },
    "of what no field shows is said for the form, beside what fields show": async (page, world) => {
      const form = forms["a new tag"];
      await form.show(page, world);
      await refuse(page, form, [
        { field: "slug", message: "It is taken." },
        { field: "widget_settings", message: "No such widget." },
      ]);
      await button(page, "Create");
      const alerts = page.getByRole("dialog").getByRole("alert");
      await alerts.nth(1).waitFor();
      assert.deepEqual((await alerts.allTextContents()).sort(), ["It is taken.", "No such widget."]);
      assert.equal(await page.getByRole("dialog").getByLabel("Slug").getAttribute("aria-invalid"), "true");
      assert.equal(await page.getByRole("dialog").getByLabel("Name").inputValue(), "Flask");
    },
  },
});
