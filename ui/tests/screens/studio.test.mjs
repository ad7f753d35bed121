// Studio pages on a phone, in the browser that a visitor has: with their script
// and without it, in every state, with axe over each.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";
import { PATIENCE, findings, themes } from "./browser.mjs";
import { serveUi } from "./served.mjs";
import { client } from "./world.mjs";

const PHONE = { width: 390, height: 844 };

test.describe("A studio page", () => {
  let ui, browser, api;

  test.beforeAll(async ({ browser: chromium }) => {
    browser = chromium;
    ui = await serveUi();
    api = client(ui);
  });

  test.afterAll(async () => {
    await ui?.close();
  });

  /** A visitor's phone. What breaks on it, and whom it asks, is in `page.broken` and `page.asked`. */
  async function phone({ script = true, theme = "light", locale = "en-GB" } = {}) {
    const context = await browser.newContext({
      viewport: PHONE,
      colorScheme: theme,
      javaScriptEnabled: script,
      reducedMotion: "reduce",
      locale,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.broken = [];
    page.asked = new Set();
    page.on("pageerror", (error) => page.broken.push(error.message));
    page.on("console", (said) => {
      if (said.type() === "error" && /Content Security Policy|Refused/.test(said.text())) page.broken.push(said.text());
    });
    page.on("request", (request) => page.asked.add(new URL(request.url()).origin));
    return page;
  }

  async function tag(experience, more = {}) {
    const made = await api.post("/experiences", { name: "Page", kind: "studio", ...experience });
    const tag = await api.post("/tags", {
      name: "Bottle 41",
      experience_id: made.id,
      variables: { registered: "false", note: "", owner: "" },
      ...more,
    });
    return { ...tag, url: `${ui.service}/t/${tag.slug}` };
  }

  const registration = {
    blocks: [
      { type: "heading", text: "Bottle" },
      {
        type: "condition",
        when: { type: "variable_equals", variable: "registered", value: "true" },
        blocks: [{ type: "notice", tone: "good", title: "Registered", text: "{{tag:variable:owner}}" }],
        otherwise: [
          {
            type: "form",
            submit_label: "Register",
            fields: [
              { label: "Your name", kind: "text", variable: "owner", required: true },
              { label: "This is mine", kind: "checkbox", variable: "registered", required: true },
            ],
          },
        ],
      },
      { type: "variable_button", label: "Leave a note", variable: "note", value: "seen" },
    ],
  };

  const variables = async ({ id }) => (await api.get(`/tags/${id}`)).variables;

  async function register(page) {
    await page.getByLabel("Your name").fill("Ada <b>Lovelace</b>");
    await page.getByLabel("This is mine").check();
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("Saved. Thank you.").waitFor();
    await page.getByText("Registered", { exact: true }).waitFor();
  }

  for (const script of [true, false]) {
    test(`is filled in, saved and shown as it is then, ${script ? "with" : "without"} JavaScript`, async () => {
      const bottle = await tag(registration);
      const page = await phone({ script });
      await page.goto(bottle.url);
      await register(page);
      assert.deepEqual(await variables(bottle), { registered: "true", note: "", owner: "Ada <b>Lovelace</b>" });
      await page.getByText("Ada <b>Lovelace</b>").waitFor();
      assert.equal(page.url(), script ? `${bottle.url}?again` : bottle.url);

      // What else there is to change waits for another tap.
      await page.getByText("Tap again to change more.").waitFor();
      assert.equal(await page.getByRole("button", { name: "Leave a note" }).isDisabled(), true);

      const other = await phone({ script });
      await other.goto(bottle.url);
      await other.getByText("Registered", { exact: true }).waitFor();
      await other.getByRole("button", { name: "Leave a note" }).click();
      await other.getByText("Saved. Thank you.").waitFor();
      assert.equal((await variables(bottle)).note, "seen");
      assert.deepEqual([...page.broken, ...other.broken], []);
      assert.deepEqual([...page.asked], [ui.service], "nobody but the service is asked");
      await Promise.all([page.context().close(), other.context().close()]);
    });
  }

  const scans = async ({ id }) => (await api.get(`/tags/${id}`)).scan_count;
  const note = (page) => page.getByRole("button", { name: "Leave a note" });

  for (const script of [true, false]) {
    test(`is no new scan on a reload, and one on a second scan, ${script ? "with" : "without"} JavaScript`, async () => {
      const bottle = await tag(registration);
      const page = await phone({ script });
      await page.goto(bottle.url);
      const other = await page.context().newPage();
      await other.goto(bottle.url);
      assert.equal(await scans(bottle), 1, "nothing was saved yet: the key serves both");
      await note(other).click();
      await other.getByText("Saved. Thank you.").waitFor();

      await page.reload();
      await page.getByText("Tap again to change more.").first().waitFor();
      assert.equal(await note(page).isDisabled(), true, "a reload is no scan");
      assert.equal(await scans(bottle), 1);

      // The camera opens the address again.
      await other.goto(bottle.url);
      assert.equal(await note(other).isEnabled(), true, "a scan has a key of its own");
      assert.equal(await scans(bottle), 2);
      await note(other).click();
      await other.getByText("Saved. Thank you.").waitFor();
      assert.deepEqual([...page.broken], []);
      await page.context().close();
    });
  }

  test("is no new scan when its visitor goes back to it, and none when its tab is restored", async () => {
    const bottle = await tag(registration);
    const page = await phone();
    await page.goto(`${bottle.url}?utm_source=poster`);
    await note(page).click();
    await page.getByText("Saved. Thank you.").waitFor();
    await page.goto(`${ui.service}/health`);
    await page.goBack();
    await page.getByText("Tap again to change more.").first().waitFor();
    assert.equal(await note(page).isDisabled(), true);
    assert.equal(page.url(), `${bottle.url}?utm_source=poster&again`);
    // A tab that the phone had put away asks for the same address in a new page.
    const restored = await page.context().newPage();
    await restored.goto(page.url());
    await restored.getByText("Tap again to change more.").first().waitFor();
    assert.equal(await scans(bottle), 1);
    await page.context().close();
  });

  test("takes a double click for one", async () => {
    const bottle = await tag(registration);
    const page = await phone();
    await page.goto(bottle.url);
    let updates = 0;
    page.on("request", (request) => request.method() === "POST" && updates++);
    await page.getByRole("button", { name: "Leave a note" }).dblclick();
    await page.getByText("Saved. Thank you.").waitFor();
    assert.equal(updates, 1);
    assert.deepEqual(page.broken, []);
    await page.context().close();
  });

  test("says that its key was consumed on another page, and offers nothing more", async () => {
    const bottle = await tag(registration);
    const page = await phone();
    await page.goto(bottle.url);
    const key = await page.locator("[name=rolling_key]").first().inputValue();
    await api.update(key, { note: "another page" });
    await page.getByRole("button", { name: "Leave a note" }).click();
    await page.getByText("Something was saved with this tap already.").waitFor();
    assert.equal((await variables(bottle)).note, "another page");
    assert.equal(await page.evaluate(() => document.activeElement.className.includes("said")), true);
    await page.context().close();
  });

  test("keeps what was entered while there is no connection", async () => {
    const bottle = await tag(registration);
    const page = await phone();
    await page.goto(bottle.url);
    await page.getByLabel("Your name").fill("Ada");
    await page.getByLabel("This is mine").check();
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("There is no connection.").waitFor();
    assert.equal(await page.getByLabel("Your name").inputValue(), "Ada");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("Saved. Thank you.").waitFor();
    await page.context().close();
  });

  test("says by itself when its five minutes are over, and so does the service", async () => {
    const bottle = await tag(registration);
    const page = await phone();
    await page.clock.install();
    await page.goto(bottle.url);
    await page.clock.runFor(299_000);
    assert.equal(await page.getByRole("button", { name: "Register" }).isDisabled(), false);
    await page.clock.runFor(2_000);
    await page.getByText("The five minutes of this tap are over.").first().waitFor();
    assert.equal(await page.getByRole("button", { name: "Register" }).isDisabled(), true);
    assert.deepEqual(await findings(page), []);
    await page.context().close();

    const plain = await phone({ script: false });
    await plain.goto(bottle.url);
    await plain.getByLabel("Your name").fill("Ada");
    await plain.getByLabel("This is mine").check();
    await api.post("/clock", { advance_ms: 300_000 });
    await plain.getByRole("button", { name: "Register" }).click();
    await plain.getByRole("heading", { name: "Please tap again" }).waitFor();
    assert.equal((await variables(bottle)).registered, "false");
    await plain.context().close();
  });

  test("goes back to where the visitor was, without sending anything again", async () => {
    const bottle = await tag(registration);
    const page = await phone({ script: false });
    let sent = 0;
    page.on("request", (request) => request.method() === "POST" && sent++);
    await page.goto(bottle.url);
    await register(page);
    await page.goBack();
    await page.getByText("Registered", { exact: true }).waitFor();
    assert.equal(sent, 1);
    // Its key is used up, and without a script the page has no address of its own: a browser
    // asks as for a new scan. That one serves what follows.
    assert.equal(await note(page).isEnabled(), true);
    assert.equal(await scans(bottle), 2);
    await page.goto(bottle.url);
    await page.getByText("Registered", { exact: true }).waitFor();
    assert.equal(await scans(bottle), 2);
    await page.context().close();
  });

  for (const theme of themes) {
    test(`is accessible in every template and every state, ${theme}`, async () => {
      const { items } = await api.get("/experiences/templates");
      const page = await phone({ theme });
      for (const { name, experience, variables } of items) {
        const filled = Object.fromEntries(Object.keys(variables).map((key) => [key, "9"]));
        for (const values of [variables, filled]) {
          const { url } = await tag(experience, { title: "Aster desk lamp", variables: values });
          const answer = await page.goto(url);
          assert.ok((await answer.body()).length < 30 * 1024, `${name} is under 30 KB`);
          assert.deepEqual(await findings(page), [], name);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wide <= 0, `${name} is ${wide}px wider than the phone`);
        }
      }
      const bottle = await tag(registration);
      await page.goto(bottle.url);
      await register(page);
      assert.deepEqual(await findings(page), [], "saved");
      await page.goto(`${ui.service}/t/nothing-here`);
      assert.deepEqual(await findings(page), [], "unknown");
      await page.context().close();
    });
  }

  test("can be read in every colour", async () => {
    for (const [accent, background, background_dark] of [
      ["#ffff00", "#ffffff", "#000000"],
      ["#000080", "#ff8800", "#333333"],
      ["#777777", "#808080", "#7f7f7f"],
      ["#ff00ff", "#00ff00", "#440000"],
    ]) {
      const { items } = await api.get("/experiences/templates");
      const { url } = await tag({ blocks: items[0].experience.blocks, theme: { accent, background, background_dark } });
      for (const theme of themes) {
        const page = await phone({ theme });
        await page.goto(url);
        assert.deepEqual(await findings(page), [], `${accent} on ${background}`);
        await page.context().close();
      }
    }
  });

  test("is in the visitor's language if it has it", async () => {
    const says = (language, text) => ({
      type: "condition",
      when: { type: "language", any_of: [language] },
      blocks: [{ type: "heading", text }],
    });
    const { url } = await tag({ blocks: [says("en", "Welcome"), says("ar", "مرحبا")] });
    const page = await phone({ locale: "ar-EG" });
    await page.goto(url);
    await page.getByRole("heading", { name: "مرحبا" }).waitFor();
    assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, document.dir]), ["ar", "rtl"]);
    await page.context().close();
  });

  test.describe("with what strangers wrote in every place", () => {
    const BATCH = 15;
    const macro = (index) => `{{tag:${["variable", "data", "attribute"][index % 3]}:v${index}}}`;

    /** Each value in every kind of block, in text and in URLs. */
    const blocks = Array.from({ length: BATCH }, (_, index) => {
      const x = macro(index);
      return [
        { type: "heading", text: `A ${x} {{tag:name}} {{tag:title}}` },
        {
          type: "text",
          text: `${x}\n\n**${x}** \`${x}\`\n\n- ${x}\n\n> ${x}\n\n[${x}](https://owner.example/${x}?a=${x}#${x} "${x}") <b title="${x}">${x}</b>`,
        },
        { type: "button", label: `A ${x}`, url: `https://owner.example/${x}/b?c=${x}#${x}` },
        { type: "button", label: `A ${x}`, url: `mailto:me@owner.example?subject=${x}` },
        { type: "video", label: `A ${x}`, url: `https://owner.example/${x}` },
        { type: "notice", tone: "caution", title: `A ${x}`, text: `A ${x}` },
        { type: "progress", label: `A ${x}`, value: x, of: 3 },
        { type: "table", rows: [{ key: `A ${x}`, value: `A ${x}` }] },
        {
          type: "form",
          submit_label: `A ${x}`,
          fields: [
            { label: `A ${x}`, kind: "text", variable: "a" },
            { label: `A ${x}`, kind: "multiline", variable: "b" },
            { label: `A ${x}`, kind: "choice", variable: "c", choices: ["a", "b"] },
            { label: `A ${x}`, kind: "checkbox", variable: "d" },
          ],
        },
        { type: "variable_button", label: `A ${x}`, variable: "a", value: `A ${x}` },
      ];
    }).flat();

    /** The structure of the page, without the values in it. */
    const read = () => ({
      elements: [...document.querySelectorAll("*")]
        .filter(({ localName }) => localName !== "br")
        .map(
          ({ localName, attributes }) =>
            `${localName} ${[...attributes]
              .map(({ name }) => name)
              .sort()
              .join(" ")}`,
        ),
      links: [...document.links].map(({ protocol, hostname }) => `${protocol}${hostname}`),
      forms: [...document.forms].map(({ action, method }) => `${method} ${new URL(action).origin}`),
      comments: document.evaluate("count(//comment())", document).numberValue,
      cells: [...document.querySelectorAll("dd")].map(({ textContent }) => textContent),
    });

    test("shows it all as text: nothing runs, nothing opens, nobody else is asked", async () => {
      const made = await api.post("/experiences", { name: "Everywhere", kind: "studio", blocks });
      const corpus = (await readFile(new URL("../../../tests/vectors/injection.txt", import.meta.url), "utf8"))
        .split("\n")
        .filter((line) => line.startsWith('"'))
        .map((line) => JSON.parse(line))
        .filter(Boolean);
      assert.ok(corpus.length >= 200);
      const page = await phone();
      const opened = [];
      page.on("dialog", (dialog) => (opened.push(dialog.message()), dialog.dismiss()));
      page.context().on("page", (other) => opened.push(other.url()));

      const look = async (values) => {
        const of = (kind) =>
          Object.fromEntries(values.map((value, index) => [`v${index}`, value]).filter((_, index) => index % 3 === kind));
        const name = Array.from(values[0]).slice(0, 200).join("");
        const { slug } = await api.post("/tags", {
          name: name.trim() || "x",
          title: Array.from(values[1]).slice(0, 2000).join(""),
          experience_id: made.id,
          variables: { ...of(0), a: "", b: "", c: "", d: "" },
          data: of(1),
          attributes: of(2),
        });
        await page.goto(`${ui.service}/t/${slug}`, { waitUntil: "load" });
        return page.evaluate(read);
      };

      const harmless = await look(Array(BATCH).fill("x"));
      assert.ok(harmless.elements.length > 900, `${harmless.elements.length}`);
      assert.deepEqual(new Set(harmless.links), new Set(["https:owner.example", "mailto:"]));
      for (let at = 0; at < corpus.length; at += BATCH) {
        const values = corpus.slice(at, at + BATCH);
        while (values.length < BATCH) values.push("x");
        const { cells, ...rest } = await look(values);
        const { cells: _, ...expected } = harmless;
        assert.deepEqual(rest, expected, `values from ${at}`);
        const lines = (text) => text.replaceAll(/\r\n?/g, "\n");
        assert.deepEqual(
          cells.map(lines),
          values.map((value) => lines(`A ${value}`)),
        );
      }
      assert.deepEqual(opened, []);
      assert.deepEqual(page.broken, []);
      assert.deepEqual([...page.asked], [ui.service], "nobody but the service is asked");
      await page.context().close();
    });
  });
});
