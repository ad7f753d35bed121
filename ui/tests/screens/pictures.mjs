// The ways to the screens that pictures are taken of.

import { readFile } from "node:fs/promises";
import { settled } from "./browser.mjs";
import { readerHost } from "./host.mjs";
import { sent } from "./sent.mjs";

export const small = { width: 1024, height: 700 };
const large = { width: 1920, height: 1080 };
/** A template of pages with a sample tag, which the service does not tell. */
const STORY = new URL("../../../service/data/templates/09-wine-story.json", import.meta.url);

const newest = async ({ api }, query = "") => (await api.get(`/interactions?limit=1${query}`)).items[0].id;
const tab = async (page, name) => {
  await page.getByRole("tab", { name }).click();
  await settled(page);
};
const simulate = async (page) => {
  await page.show("simulator");
  await page.getByText("demo-bottle").click();
  await page.getByRole("button", { name: "Tap", exact: true }).click();
  await page.getByLabel("The last tap").waitFor();
};
/** Opens the editor on a page made from this template. */
const edit = async (page, { api, tags }, name) => {
  const { items } = await api.get("/experiences/templates");
  const { id } = await api.post("/experiences", items.find((template) => template.name === name).experience);
  await page.show(`experiences/${id}`);
  await page.getByRole("combobox", { name: "Tag" }).fill(tags[3].name);
  await page.getByRole("option", { name: new RegExp(tags[3].slug) }).click();
  await page.getByRole("group", { name: "The page on a phone" }).getByRole("heading", { name: tags[3].title }).waitFor();
};
const equipped = async ({ api }) => (await api.get("/inlays?limit=1")).items[0].tag_id;

const submissions = async (page, { api }) => {
  const { items } = await sent(api);
  await page.show(`submissions/${items.at(-1).id}`);
  await page.getByText("As it was shown in version").waitFor();
};
/** One that works and one that nobody answers. */
const webhooks = async (page, { api }) => {
  const { items } = await api.get("/webhooks");
  for (const url of ["https://shop.example.com/hooks/tapdesk", "https://nobody.example.com/hooks"].slice(items.length)) {
    await api.post("/webhooks", { url, events: ["tap.verified", "submission.created"] });
  }
  await page.show("settings/webhooks");
  await page.getByText("shop.example.com").waitFor();
};

/** Tags with a chip whose names need no font beside ours. */
const plain = ({ equipped }) => equipped.filter(({ tag }) => /^\w+ \d+$/.test(tag.name));

/** The URL that a tag's chip makes next. */
const next = ({ ui }, { tag, inlay }) => `${ui.service}/t/${tag.slug}${inlay.read()}`;

/** The reader with the inlay of a tag on it, and its tap sent. */
const reader = async (page, world) => {
  const one = plain(world)[2];
  const desk = await readerHost(page, world.ui);
  await page.show("reader");
  await desk.place(one.inlay.uid, next(world, one));
  await page.getByRole("button", { name: "Send tap", exact: true }).click();
  await page.getByLabel("Result").getByText("verified", { exact: true }).waitFor();
};

/** One with a URL of this service, that the service does not know. */
const stranger = async (page, { ui, tags }) => {
  const desk = await readerHost(page, ui);
  await page.show("reader");
  await desk.place("04AABBCCDDEE01", `${ui.service}/t/${tags[0].slug}?uid=04AABBCCDDEE01&token=00000194EED9EE65337086`);
  await page.getByText("This inlay has no tag yet").waitFor();
};

/** A sheet of eight inlays: the last one was tampered with. */
const sheet = async (page, world) => {
  const { api, ui } = world;
  const chips = plain(world);
  const { id } = await api.post("/sheets", { name: "Delivery 12", planned: 25, expected: { tag_verified: true } });
  const desk = await readerHost(page, ui);
  await page.show(`sheets/${id}`);
  await page.getByRole("heading", { name: "Delivery 12" }).waitFor();
  for (let number = 1; number <= 8; number++) {
    const one = chips[number - 1];
    const url = next(world, one);
    await desk.place(one.inlay.uid, number < 8 ? url : url.replace(/.$/, (last) => (last === "0" ? "1" : "0")));
    await page.waitForFunction((count) => document.querySelectorAll("[data-result]").length === count, number);
  }
};

const doctor = async (page, { ui }) => {
  const reader_doctor = [
    { kind: "ready", title: "ACS ACR1252 1S CL Reader is ready.", text: "Place an inlay on it.", command: null },
    {
      kind: "driver_taken",
      title: "A kernel driver uses the reader.",
      text: "The module pn533_usb uses readers with a PN533 chip, such as the ACR122U, so the smart card service cannot. Block the module, then unplug the reader and plug it in again.",
      command: "echo 'install pn533_usb /bin/false' | sudo tee /etc/modprobe.d/tapdesk-reader.conf\nsudo modprobe -r pn533_usb",
    },
  ];
  await readerHost(page, ui, { reader_doctor });
  await page.show("reader/doctor");
  await page.getByText("A kernel driver uses the reader.").waitFor();
};

/** The kiosk's own page, as one of its examples. */
const kiosk = async (page, { ui }, example) => {
  await page.goto(`${ui.url}kiosk.html?example=${example}`);
  await page.getByRole("main").first().waitFor();
  await page.evaluate(() => document.fonts.ready);
};

/** The height of the strip below a visit: as the desktop lays it out. */
const STRIP = 96;

/** A visit: the page of a tag, and below it the strip, which the desktop shows in a view of its own. */
const visit = async (page, world) => {
  const { experience, variables, sample } = JSON.parse(await readFile(STORY, "utf8"));
  const made = await world.api.post("/experiences", experience);
  const { title, attributes, data } = sample;
  const own = { ...variables, ...sample.variables };
  const tag = await world.api.post("/tags", { name: title, title, attributes, data, variables: own, experience_id: made.id });
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width, height: height - STRIP });
  await page.goto(`${world.ui.url}t/${tag.slug}`);
  const above = await page.screenshot();
  await page.setViewportSize({ width, height: STRIP });
  await kiosk(page, world, "own-visit");
  const below = await page.screenshot();
  await page.setViewportSize({ width, height });
  const image = (bytes) => `<img src="data:image/png;base64,${bytes.toString("base64")}" style="display:block">`;
  await page.setContent(`<body style="margin:0">${image(above)}${image(below)}</body>`);
  await page.waitForFunction(() => [...document.images].every((one) => one.complete));
};

/** The overview of a shop that has worked for a while. */
const overview = async (page) => {
  await page.show("overview");
  await page.getByRole("button", { name: "Dismiss the first steps" }).click();
};

/** Name, way to the screen, and what is unusual about the picture; `readme` ones are kept in the tree. */
export const pictures = [
  ["overview", overview, { readme: true }],
  ["overview-dark", overview, { theme: "dark" }],
  ["overview-large", overview, { size: large }],
  ["tags", async (page, world) => page.show(`tags/${await equipped(world)}`), { readme: true }],
  ["tags-list", (page) => page.show("tags")],
  ["tags-small", (page) => page.show("tags"), { size: small }],
  ["tags-large", async (page, world) => page.show(`tags/${world.tags[39].id}`), { size: large }],
  [
    "tags-selected-dark",
    async (page) => {
      await page.show("tags");
      for (const name of ["Bottle 48", "Lamp 47", "Watch 45"]) await page.getByLabel(`Select ${name}`, { exact: true }).check();
    },
    { theme: "dark" },
  ],
  [
    "tag-properties",
    async (page, world) => {
      await page.show(`tags/${await equipped(world)}`);
      await tab(page, "Properties");
    },
    { size: large },
  ],
  [
    "tag-inlay",
    async (page, world) => {
      await page.show(`tags/${await equipped(world)}`);
      await tab(page, "Inlay & QR");
      await page.getByText("Encoding sheet for").click();
    },
    { size: large, readme: true },
  ],
  [
    "tag-location-small",
    async (page, world) => {
      await page.show(`tags/${world.tags[39].id}`);
      await tab(page, "Location");
    },
    { size: small },
  ],
  [
    "tag-taps",
    async (page, world) => {
      await page.show(`tags/${await equipped(world)}`);
      await tab(page, "Taps");
    },
  ],
  [
    "import",
    async (page) => {
      await page.show("tags");
      await page.getByRole("button", { name: "Import…" }).click();
      const rows = Array.from(
        { length: 240 },
        (_, row) => `${row % 90 === 7 ? "" : `Vase ${row}`};${["red", "blue"][row % 2]};vase-${row + 1000}`,
      );
      const buffer = Buffer.from(["Label;Colour;code", ...rows].join("\n"));
      await page.getByLabel("CSV file").setInputFiles({ name: "vases.csv", mimeType: "text/csv", buffer });
      await page.getByLabel("Import Label as").selectOption("name");
      await page.getByLabel("Import Colour as").selectOption("data:Colour");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("rows cannot").waitFor();
    },
    { readme: true },
  ],
  [
    "experiences",
    async (page) => {
      await page.show("experiences/1");
      await page.locator("code.url").waitFor();
    },
    { readme: true },
  ],
  [
    "experiences-completion",
    async (page) => {
      await page.show("experiences/1");
      await page.getByLabel("Destination URL").fill("https://shop.example.com/register?sn={{ ta");
    },
  ],
  ["studio", (page, world) => edit(page, world, "product-registration"), { size: large, readme: true }],
  ["studio-dark", (page, world) => edit(page, world, "authenticity"), { size: large, theme: "dark" }],
  ["studio-small", (page, world) => edit(page, world, "warranty"), { size: small }],
  [
    "studio-theme-small-dark",
    async (page, world) => {
      await edit(page, world, "story");
      await page.getByText("Theme", { exact: true }).click();
    },
    { size: small, theme: "dark" },
  ],
  [
    "templates",
    async (page) => {
      await page.show("experiences");
      await page.getByRole("button", { name: "New experience" }).click();
      await page.getByLabel("Page served by Tapdesk").check();
      await page.getByRole("button", { name: "Loyalty stamp" }).waitFor();
    },
  ],
  [
    "rules-dark",
    async (page) => {
      await page.show("experiences/2");
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByRole("button", { name: "Add condition" }).click();
      await page.getByLabel("Destination URL of rule 1").fill("https://docs.example.com/verified");
    },
    { theme: "dark" },
  ],
  ["inlays-small", (page) => page.show("inlays/13"), { size: small }],
  ["templates-dark", (page) => page.show("templates/1"), { size: large, theme: "dark" }],
  [
    "moving",
    async (page) => {
      await page.show("move?step=chips");
      const codes = ["04DE5F1EACC040&token=00003D94EED9EE65337086", "04DE5F1EACC041&token=00004294EED9EE65337087"];
      await page.getByLabel("URLs").fill(codes.map((code) => `https://old.example/v?uid=${code}`).join("\n"));
      await page.getByRole("button", { name: "Find the format" }).click();
      await page.getByRole("region", { name: "Answer" }).waitFor();
    },
    { size: { width: 1280, height: 960 }, readme: true },
  ],
  ["moving-service", (page) => page.show("move?step=service")],
  ["moving-switch-dark", (page) => page.show("move?step=switch&template=1"), { theme: "dark" }],
  ["interactions", async (page, world) => page.show(`interactions/${await newest(world)}`), { readme: true }],
  [
    "interactions-dark",
    async (page, world) => page.show(`interactions/${await newest(world, "&reason=wrong_mac")}`),
    { theme: "dark", readme: true },
  ],
  ["interactions-small", (page) => page.show("interactions"), { size: small }],
  ["submissions", submissions],
  ["submissions-dark", submissions, { theme: "dark" }],
  [
    "submissions-erase-small",
    async (page, world) => {
      await sent(world.api);
      // A pane would cover the list.
      await page.show("submissions");
      await page.getByRole("button", { name: "Erase a person…" }).click();
      await page.getByLabel("Text that the person sent").fill("ada@example.com");
      await page.getByText("Erase 1 submission with the text").waitFor();
    },
    { size: small },
  ],
  ["simulator", simulate, { readme: true }],
  [
    "simulator-adversary-dark",
    async (page) => {
      await simulate(page);
      await page.getByRole("button", { name: "Double update" }).click();
      await page.getByText("400: Invalid rolling key").waitFor();
    },
    { theme: "dark", size: large },
  ],
  ["reader", reader, { readme: true }],
  ["reader-dark", reader, { theme: "dark" }],
  ["reader-unknown", stranger, { readme: true }],
  ["sheet", sheet, { readme: true }],
  ["doctor", doctor, { readme: true }],
  ["kiosk", (page, world) => kiosk(page, world, "own"), { readme: true }],
  ["kiosk-visit", visit, { readme: true }],
  ["settings", (page) => page.show("settings/service")],
  ["settings-keys", (page) => page.show("settings/keys"), { size: small }],
  ["settings-tokens-dark", (page) => page.show("settings/tokens"), { theme: "dark" }],
  ["settings-tokens", (page) => page.show("settings/tokens")],
  ["settings-audit", (page) => page.show("settings/audit")],
  ["settings-audit-dark", (page) => page.show("settings/audit"), { theme: "dark" }],
  ["settings-webhooks", webhooks],
  ["settings-webhooks-dark", webhooks, { theme: "dark" }],
  ["settings-connections", (page) => page.show("settings/connections")],
  ["settings-about", (page) => page.show("settings/about")],
  [
    "palette",
    async (page) => {
      await page.show("tags");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("wat");
      await page.getByRole("option", { name: /watch-045/ }).waitFor();
    },
    { readme: true },
  ],
  [
    "shortcuts-dark",
    async (page) => {
      await page.show("tags");
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
    { theme: "dark" },
  ],
  [
    "new-inlay",
    async (page, world) => {
      await page.show(`tags/${await equipped(world)}`);
      await tab(page, "Inlay & QR");
      await page.getByRole("button", { name: "Add inlay…" }).click();
      await page.getByLabel("Code in the URL", { exact: true }).last().selectOption("encrypted");
    },
  ],
  [
    "failure",
    async (page) => {
      await page.route("**/admin/v1/tags?*", (route) =>
        route.fulfill({
          status: 503,
          contentType: "application/problem+json",
          body: '{"detail":"The disk is full. Make room, then try again."}',
        }),
      );
      await page.show("tags");
    },
  ],
];
