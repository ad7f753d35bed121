// The ways to the screens and dialogs that are looked at, and are in no document.

import { desktopHost, kioskHost, readerHost } from "./host.mjs";
import { sent } from "./sent.mjs";

const csv = (text) => ({ name: "tags.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();
const dialog = (page) => page.getByRole("dialog");
const part = (name) => (page) => page.show(`settings/${name}`);

/** A screen, and a dialog that one of its buttons opens. */
export const asking = (place, button) => async (page) => {
  await page.show(place);
  await press(page, button);
  await dialog(page).waitFor();
};

/** Makes what a picture shows once for each service. */
const made = new Map();
const once = (name, make) => {
  if (!made.has(name)) made.set(name, make());
  return made.get(name);
};

const order = ({ api }) =>
  once("order", async () => {
    const tags = [];
    for (const number of [1, 2, 3, 4]) tags.push((await api.post("/tags", { name: `Crate of autumn ${number}` })).id);
    const { id } = await api.post("/factory-orders", { name: "Labels for autumn", tag_ids: tags });
    await api.csv(`/factory-orders/${id}/import`, "position,uid\n1,04DE5F1EAC0A01\n2,04DE5F1EAC0A02\n");
    return id;
  });
export const run = ({ api }) =>
  once(
    "run",
    async () => (await api.post("/encoding-runs", { name: "Roll of 21 November", plan: { pattern: "Bottle {n:04}" }, planned: 50 })).id,
  );
const sheet = ({ api }) =>
  once("sheet", async () => {
    const { id } = await api.post("/sheets", { name: "Delivery 12", planned: 25 });
    for (const [index, verdict] of ["ok", "ok", "ok", "duplicate", "counter_gap", "not_verified", "ok"].entries()) {
      await api.post(`/sheets/${id}/rows`, { uid: `04DE5F1EACC04${index}`, counter: index + 1, verdict, reason: "as it was judged" });
    }
    return id;
  });

const webhook =
  (action) =>
  async (page, { api }) => {
    const url = "https://again.example.com/hook";
    await once("webhook", () => api.post("/webhooks", { url, events: ["tap.verified", "tag.updated"] }));
    await page.show("settings/webhooks");
    await page
      .getByRole("row")
      .filter({ hasText: url.replace("https://", "") })
      .hover();
    await press(page, `More actions for ${url}`);
    await page.getByRole("menuitem", { name: action, exact: true }).click();
  };

/** The mail server does not exist: its mails fail. */
const notifications =
  (action = null) =>
  async (page, { api }) => {
    await once("notifications", async () => {
      await api.put("/mail", { host: "127.0.0.1", port: 9, security: "none", from: "tapdesk@example.com" });
      const mail = ["anna@example.com", "ben@example.com"];
      await api.post("/notifications", { kind: "alert", events: ["alert.disk_low", "alert.backup_failed"], channel: { mail } });
      await api.post("/notifications", {
        kind: "report",
        every: "week",
        time_zone: "Europe/Berlin",
        channel: { mail: ["shop@example.com"] },
      });
      const chat = "https://hooks.slack.com/services/T0/B0/x";
      await api.post("/notifications", { kind: "alert", events: ["alert.copied_url"], channel: { chat }, enabled: false });
    });
    await page.show("settings/notifications");
    await page.getByText("shop@example.com").waitFor();
    if (!action) return;
    await page.getByRole("row").filter({ hasText: "anna@example.com" }).hover();
    await press(page, "More actions for anna@example.com, ben@example.com");
    await page.getByRole("menuitem", { name: action, exact: true }).click();
    await dialog(page).waitFor();
  };

/** Each moment of the kiosk, on a wide and on a high display. */
const moments = [
  ...["attract", "own", "bright", "logo", "picture", "waiting", "genuine", "not-verified", "read", "goodbye", "lift"],
  ...["no-reader", "no-service", "waits", "notice", "visit", "pin"],
];
const displays = { wide: { width: 1920, height: 1080 }, high: { width: 1080, height: 1920 } };

const kiosk =
  (example, display) =>
  async (page, { ui }) => {
    await page.setViewportSize(displays[display]);
    await page.goto(`${ui.url}kiosk.html?example=${example}`);
    await page.getByRole("main").first().waitFor();
  };

/** An experience of its own for each picture: one that was edited is another one. */
const page_of = (name, blocks, more = {}) => ({ name, kind: "studio", blocks, ...more });
const filled = [
  { type: "heading", text: "{{ tag:title }}" },
  { type: "text", text: "Pressed in November, unfiltered. Keep it cool and dark." },
  { type: "form", fields: [{ label: "Your email", kind: "email", variable: "owner" }], submit_label: "Register" },
  { type: "button", label: "Read the manual", url: "https://docs.example.com/manual" },
];
/** A URL template that no inlay uses; made once, for no other one may match its URLs. */
const unused = ({ api }, name, path) =>
  once(name, async () => {
    const template = `https://tags.example.com/${path}?picc_data={picc}&cmac={mac}`;
    return (await api.post("/url-templates", { name, template, technology: "ntag424dna" })).id;
  });
/** Refuses what `path` is sent: all of it, or with `errors` only what would change something. */
const failing = (page, path, detail, errors = []) =>
  page.route(path, (route) =>
    route.request().method() === "GET" && errors.length > 0
      ? route.continue()
      : route.fulfill({
          status: errors.length > 0 ? 422 : 503,
          contentType: "application/problem+json",
          body: JSON.stringify({ detail, errors }),
        }),
  );
const studio = async (page, { api }, experience) => {
  const { id } = await api.post("/experiences", experience);
  await page.show(`experiences/${id}`);
};
/** A window on the service of a shop, as the desktop shows it. */
const shop = { id: "shop", name: "Shop in Obere Hauptstraße", kind: "remote", url: "https://tags.example.com" };
const remote = (place) => async (page) => {
  await desktopHost(page, { answers: {}, remote: shop });
  await page.show(place);
};
const bench = async (page) => {
  await page.show("simulator");
  await page.getByText("demo-bottle").click();
  await page.getByRole("button", { name: "Tap", exact: true }).waitFor();
};

export const more = [
  [
    "template-edited",
    async (page, world) => {
      await page.show(`templates/${await unused(world, "Bottles 2026", "p")}`);
      await page.getByLabel("URL with placeholders").fill("https://tags.example.com/p?u={uid}&c={counter}&m={mac}");
      await page.getByLabel("Name", { exact: true }).fill("Bottles of 2026, second harvest");
      await page.getByText("Not saved yet").waitFor();
    },
  ],
  [
    "template-wrong",
    async (page, world) => {
      await page.show(`templates/${await unused(world, "Bottles 2025", "w")}`);
      await page.getByLabel("URL with placeholders").fill("https://tags.example.com/w?u={uid}&c={count}&m={mac}");
      await press(page, "Save");
      await page.getByText("is no placeholder").waitFor();
    },
  ],
  ["studio-empty", (page, world) => studio(page, world, page_of("Blank page", [], { draft: true }))],
  [
    "studio-full",
    async (page, world) => {
      await studio(page, world, page_of("Register the bottle", filled));
      await page.getByRole("group", { name: "The page on a phone" }).getByText("Read the manual").waitFor();
    },
  ],
  [
    "studio-error",
    async (page, world) => {
      await studio(page, world, page_of("Register the crate", filled));
      await failing(page, "**/admin/v1/experiences/*", "The body is invalid.", [
        { field: "blocks[3]", message: "Block 4: the URL begins with neither https: nor http:." },
      ]);
      await page
        .getByLabel("Experience name")
        .or(page.getByLabel("Name", { exact: true }))
        .first()
        .fill("Register the crates");
      await press(page, "Save draft");
      await page.getByRole("alert").filter({ hasText: /./ }).first().waitFor();
    },
  ],
  ["simulator-chosen", bench],
  [
    "simulator-full",
    async (page) => {
      await bench(page);
      for (const name of ["Tap", "Double update", "Tap"]) {
        await page.getByRole("button", { name, exact: true }).click();
        await page.getByRole("button", { name, exact: true }).and(page.locator(":enabled")).waitFor();
      }
    },
  ],
  [
    "simulator-error",
    async (page) => {
      await bench(page);
      await failing(page, "**/admin/v1/simulator/inlays/*/tap", "The disk is full. Make room, then try again.");
      await page.getByRole("button", { name: "Tap", exact: true }).click();
      await page.getByText("The disk is full.").first().waitFor();
    },
  ],
  ["settings-connections-remote", remote("settings/connections")],
  ["settings-about-remote", remote("settings/about")],
  [
    "remote-refused",
    async (page) => {
      await remote("tags")(page);
      await press(page, "New tag");
      await dialog(page).getByLabel("Name", { exact: true }).fill("Bottle 49");
      await press(dialog(page), "Create");
      await press(page.getByRole("dialog", { name: /^Allow changes/ }), "Cancel");
      await dialog(page).getByText("read-only").waitFor();
    },
  ],
  [
    "reader-blank",
    async (page, { ui }) => {
      const desk = await readerHost(page, ui);
      await page.show("reader");
      await desk.place("04AABBCCDDEE07", null);
      await page.getByText("This inlay has no tag yet").waitFor();
    },
  ],
  [
    "submissions-many",
    async (page, { api }) => {
      await sent(api);
      await page.show("submissions");
      await page.getByText("Joan").waitFor();
    },
  ],
  [
    "overview-month",
    async (page) => (await page.show("overview"), await press(page, "30 days"), await page.getByText("Taps per day").waitFor()),
  ],
  [
    "overview-breakdown",
    async (page) => {
      await page.show("overview");
      await page.getByRole("heading", { name: "Breakdown" }).scrollIntoViewIfNeeded();
      await page.getByText("Way of scanning").waitFor({ state: "attached" });
      await page.locator("[aria-labelledby=breakdown]").evaluate((one) => one.scrollIntoView());
    },
  ],
  [
    "overview-hours",
    async (page) => {
      await page.show("overview");
      await page.getByRole("combobox", { name: "By", exact: true }).selectOption("hours");
      await page.getByText("Taps by hour of the week").waitFor();
      await page.locator("[aria-labelledby=breakdown]").evaluate((one) => one.scrollIntoView());
    },
  ],
  ["tag-details", (page, { tags }) => page.show(`tags/${tags[39].id}`)],
  ["tag-new", asking("tags", "New tag")],
  ["experiences-list", (page) => page.show("experiences")],
  ["experience-new", asking("experiences", "New experience")],
  [
    "experience-publish",
    async (page) => {
      await page.show("experiences/1");
      await page.getByLabel("Destination URL").fill("https://shop.example.com/autumn?sn={{ tag:attribute:sku }}");
      await press(page, "Publish…");
      await dialog(page).waitFor();
    },
  ],
  ["experience-versions", async (page) => (await page.show("experiences/1"), await press(page, "Compare"))],
  ["templates-list", (page) => page.show("templates")],
  ["template-new", (page) => page.show("templates/new")],
  ["template-unused", (page) => page.show("templates/2")],
  ["inlays-list", (page) => page.show("inlays")],
  ["inlay-new", asking("inlays", "New inlay")],
  ["move-first-tap", (page) => page.show("move?step=tap&template=1")],
  ["move-import", (page) => page.show("move?step=import&template=1")],
  ["encode-runs", async (page, world) => (await run(world), await page.show("encode"))],
  [
    "encode-new-csv",
    async (page) => {
      await asking("encode", "New run")(page);
      await dialog(page).getByLabel("Tags", { exact: true }).selectOption("csv");
      await page.getByLabel("CSV file").setInputFiles(csv("name,slug\nBottle A,encode-a\nBottle B,encode-b\n"));
      await page.getByLabel("Import name as").waitFor();
      await page.getByText("Dry run: every step").click();
    },
  ],
  ["orders", async (page, world) => (await order(world), await page.show("encode?part=orders"))],
  ["order-new", asking("encode?part=orders", "New order")],
  [
    "order",
    async (page, world) => {
      await page.show(`encode/order-${await order(world)}`);
      await page.getByRole("cell", { name: "Bureau keys" }).first().waitFor();
    },
  ],
  [
    "order-report",
    async (page, world) => {
      await page.show(`encode/order-${await order(world)}`);
      await press(page, "Import report…");
      await page.getByLabel("CSV file").setInputFiles(csv("position,uid,status\n3,04DE5F1EACFFF3,ok\n9,04DE5F1EACFFF9,ok\n"));
      await press(page, "Check");
      await page.getByText(/chips? can be bound/).waitFor();
    },
  ],
  ["reader-none", (page) => page.show("reader")],
  ["reader-doctor", (page) => page.show("reader/doctor")],
  ["reader-batch", (page) => page.show("reader/batch")],
  ["sheets", async (page, world) => (await sheet(world), await page.show("sheets"))],
  ["sheet-run", async (page, world) => page.show(`sheets/${await sheet(world)}`)],
  ["sheet-new", asking("sheets", "New sheet")],
  ["simulator-new-inlay", asking("simulator", "New virtual inlay")],
  ["settings-backup", part("backup")],
  ["settings-appearance", part("appearance")],
  ["settings-kiosk", part("kiosk")],
  ["settings-token-new", asking("settings/tokens", "New token…")],
  [
    "settings-audit-row",
    async (page) => {
      await page.show("settings/audit");
      const row = page
        .getByRole("row")
        .filter({ has: page.getByRole("button", { name: "Details", exact: true }) })
        .first();
      await row.hover();
      await row.getByRole("button", { name: "Details" }).click();
      await dialog(page).waitFor();
    },
  ],
  ["webhook-new", asking("settings/webhooks", "New webhook…")],
  ["webhook-change", async (page, world) => (await webhook("Change…")(page, world), await dialog(page).waitFor())],
  [
    "webhook-attempts",
    async (page, world) => {
      await webhook("Send test event")(page, world);
      await webhook("View attempts")(page, world);
      await dialog(page).waitFor();
    },
  ],
  ["settings-notifications-empty", part("notifications")],
  ["mail-server-new", asking("settings/notifications", "Set up…")],
  ["notification-new", asking("settings/notifications", "New notification…")],
  ["settings-notifications", notifications()],
  ["notification-change", notifications("Change…")],
  ["notification-test", notifications("Send test message")],
  ["submissions-list", (page) => page.show("submissions")],
  ["submissions-narrow", (page) => page.show("submissions?verification=verified")],
  [
    "settings-kiosk-desktop",
    async (page) => {
      await kioskHost(page);
      await page.show("settings/kiosk");
      await page.getByRole("heading", { name: "Visits" }).waitFor();
    },
  ],
  ...moments.flatMap((example) => Object.keys(displays).map((display) => [`kiosk-${example}-${display}`, kiosk(example, display)])),
];
