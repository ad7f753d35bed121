import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { atRest, kioskHost } from "./host.mjs";
import { group } from "./suite.mjs";

const words = JSON.parse(await readFile(new URL("../../src/kiosk/words.json", import.meta.url), "utf8"));
const languages = Object.values(words).map(({ language }) => language);

const example =
  (name, words) =>
  async (page, { ui }) => {
    await page.goto(`${ui.url}kiosk.html?example=${name}`);
    await page.getByText(words).first().waitFor();
  };

/** The state of a kiosk that waits for a visitor, with these changes. */
const view = (changes = {}) => ({ ...atRest, ...changes });
const shows = (page, changes) => page.evaluate((now) => globalThis.host.show(now), view(changes));
/** A visit whose page is shown. */
const open = { number: 1, seconds_left: 60, verified: true, is_open: true };
const waiting = async (page, { ui }) => {
  await kioskHost(page);
  await page.goto(`${ui.url}kiosk.html`);
  await page.getByText("Place your tag here").waitFor();
};

const moments = [
  ...["attract", "own", "bright", "picture"].map((name) => [name, "Place your tag here"]),
  ["waiting", "Reading your tag"],
  ["genuine", "Your tag is genuine."],
  ["not-verified", "This tag could not be verified."],
  ["goodbye", "Thank you for your visit."],
  ["lift", "Lift your tag off the reader"],
  ["no-reader", "The reader is not available."],
  ["no-service", "One moment, please."],
];

group("Kiosk", {
  states: {
    attract: example("attract", "Place your tag here"),
    "its languages": async (page, { ui }) => {
      await page.goto(`${ui.url}kiosk.html?example=attract`);
      await page.getByRole("button", { name: "English" }).click();
      await page.getByRole("button", { name: "日本語" }).waitFor();
    },
    "without a code": example("plain", "Place your tag here"),
    "no reader": example("no-reader", "The reader is not available."),
    "no service": example("no-service", "One moment, please."),
    "a start that waits": example("waits", "For staff: Port 8787 is used"),
    "a notice": example("notice", "The tag could not be read."),
    "a tag is read": example("waiting", "Reading your tag"),
    "a genuine tag": example("genuine", "Your tag is genuine."),
    "a tag that is not verified": example("not-verified", "This tag could not be verified."),
    "a tag without a verdict": example("read", "Your tag was read."),
    goodbye: example("goodbye", "Thank you for your visit."),
    "a tag that was left": example("lift", "Lift your tag off the reader"),
    "the owner's logo": example("logo", "Place your tag here"),
    "in the owner's colours": example("own", "Winery Lindenhof"),
    "in bright colours": example("bright", "Lemon & Co."),
    "the owner's longest words": example("long", "Willkommen"),
    "a visit's strip in the owner's colours": example("own-visit", "This page closes in 9 seconds"),
    "on a bright picture": example("picture", "Place your tag here"),
    "a visit's strip": example("visit", "This page closes in 9 seconds"),
    "no PIN": example("no-pin", "This kiosk has no PIN yet."),
    "the PIN pad": example("pin", "Cancel"),
  },
  stories: {
    "can be read from three metres, in any colours": async (page, { ui }) => {
      await page.setViewportSize({ width: 1920, height: 1080 });
      for (const [name, words] of moments) {
        await example(name, words)(page, { ui });
        const small = await page.evaluate(() =>
          [...document.querySelectorAll("main h1, main p, main figcaption")]
            .filter((one) => one.textContent.trim() !== "")
            .map((one) => [one.textContent.trim(), parseFloat(getComputedStyle(one).fontSize)])
            // A capital of 7.5 mm, a four hundredth of the distance: 38 pixels of a Full HD display of 24 inches.
            .filter(([, size]) => size < 38),
        );
        assert.deepEqual(small, [], name);
      }
      await example("own-visit", "This page closes in 9 seconds")(page, { ui });
      const strip = await page
        .locator("main p, main button")
        .evaluateAll((all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize)));
      assert.deepEqual(strip, [38, 38]);
    },
    "has room for each message in the strip below a page": async (page, { ui }) => {
      for (const width of [1920, 1080, 800]) {
        await page.setViewportSize({ width, height: 96 });
        await example("own-visit", "This page closes in 9 seconds")(page, { ui });
        for (const [language, { other_host, done }] of Object.entries(words)) {
          const height = await page.evaluate(
            ([text, button]) => {
              document.querySelector("main p").textContent = text;
              document.querySelector("main button").textContent = button;
              return document.querySelector("main p").getBoundingClientRect().height;
            },
            [other_host, done],
          );
          assert.ok(height <= 96, `${language}: ${height} of 96 at ${width}`);
        }
      }
    },
    "fits both displays in every language, and nothing moves from one moment to the next": async (page, { ui }) => {
      for (const size of [
        { width: 1920, height: 1080 },
        { width: 1080, height: 1920 },
      ]) {
        await page.setViewportSize(size);
        await page.goto(`${ui.url}kiosk.html?example=attract`);
        for (const name of languages) {
          await page.getByRole("button", { expanded: false }).click();
          await page.getByRole("group").getByRole("button", { name, exact: true }).click();
          const outside = await page.evaluate(() =>
            [...document.querySelectorAll("main h1, main p, main figure, main button")]
              .filter((one) => one.textContent.trim() !== "")
              .map((one) => [one.textContent.trim(), one.getBoundingClientRect()])
              .filter(([, box]) => box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight)
              .map(([text]) => text),
          );
          assert.deepEqual(outside, [], `${name} on ${size.width}x${size.height}`);
          const edges = await page.evaluate(() =>
            ["header button", "main h1", "main figure"].map((one) => {
              const { left, right } = document.querySelector(one).getBoundingClientRect();
              return { left: Math.round(left), right: Math.round(right) };
            }),
          );
          const [button, heading, code] = edges;
          // Beside the words the code ends with the languages, below them it begins with the words.
          const wide = size.width > size.height;
          const isRtl = ["العربية", "עברית"].includes(name);
          const side = wide === isRtl ? "left" : "right";
          assert.equal(code[side], (wide ? button : heading)[side], `${name}: ${JSON.stringify(edges)}`);
        }
        const places = [];
        for (const name of ["waiting", "genuine", "not-verified", "goodbye", "no-service"]) {
          await page.goto(`${ui.url}kiosk.html?example=${name}`);
          const place = await page.locator(".drawing").boundingBox();
          const letters = await page.locator("h1").evaluate((one) => getComputedStyle(one).fontSize);
          places.push(JSON.stringify({ place, letters }));
        }
        assert.equal(new Set(places).size, 1, places.join(" "));
      }
    },
    "keeps its words and its code apart on displays of every shape": async (page, { ui }) => {
      for (const [width, height] of [
        [1280, 800],
        [1280, 1024],
        [800, 480],
        [1080, 1080],
        [1024, 1280],
        [1200, 1600],
        [1200, 1920],
      ]) {
        await page.setViewportSize({ width, height });
        for (const name of ["own", "lift", "message", "bright"]) {
          await page.goto(`${ui.url}kiosk.html?example=${name}`);
          await page.getByRole("heading").waitFor();
          const wrong = await page.evaluate(() => {
            const parts = [...document.querySelectorAll("header > *, .words > :not(:empty), main figure")].map((one) => {
              const { left, top, right, bottom } = one.getBoundingClientRect();
              return { text: one.textContent.trim().slice(0, 20), left, top, right, bottom };
            });
            const outside = parts.filter((one) => one.left < 0 || one.top < 0 || one.right > innerWidth || one.bottom > innerHeight);
            const covered = parts.flatMap((one, number) =>
              parts.slice(number + 1).filter((other) => {
                const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
                return across > 1 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
              }),
            );
            return [...outside, ...covered].map(({ text }) => text);
          });
          assert.deepEqual(wrong, [], `${name} on ${width}x${height}`);
        }
      }
    },
    "keeps the owner's longest words and a message below them on both displays": async (page, { ui }) => {
      for (const size of [
        { width: 1920, height: 1080 },
        { width: 1080, height: 1920 },
      ]) {
        await page.setViewportSize(size);
        await example("long", "Willkommen")(page, { ui });
        const parts = await page.evaluate(() =>
          [...document.querySelectorAll("header p, header [role=group], main h1, .words p, main figure")].map((one) => {
            const { left, top, right, bottom } = one.getBoundingClientRect();
            return {
              text: one.textContent.trim().slice(0, 20),
              left,
              top,
              right,
              bottom,
              size: parseFloat(getComputedStyle(one).fontSize),
            };
          }),
        );
        const display = `${size.width}x${size.height}`;
        assert.equal(parts.length, 6, display);
        for (const [number, one] of parts.entries()) {
          const inside = one.left >= 0 && one.top >= 0 && one.right <= size.width && one.bottom <= size.height;
          assert.ok(inside, `${one.text} on ${display}`);
          for (const other of parts.slice(number + 1)) {
            const over = Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1;
            const covers = over && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
            assert.ok(!covers, `${one.text} and ${other.text} on ${display}`);
          }
        }
        // The message is for this visitor, so it stays larger than the owner's text.
        assert.ok(parts[4].size >= 36, `${parts[4].size} on ${display}`);
      }
    },
    "shows all of a long message on both displays": async (page, { ui }) => {
      for (const size of [
        { width: 1920, height: 1080 },
        { width: 1080, height: 1920 },
      ]) {
        await page.setViewportSize(size);
        for (const name of ["English", "Deutsch", "Français", "Polski"]) {
          await page.goto(`${ui.url}kiosk.html?example=message`);
          await page.getByRole("group").getByRole("button", { name, exact: true }).click();
          const outside = await page.locator("main [role=status]").evaluate((message) => {
            const words = document.createRange();
            words.selectNodeContents(message);
            const [inner, outer] = [words.getBoundingClientRect(), message.getBoundingClientRect()];
            const room = parseFloat(getComputedStyle(message).paddingTop) - 1;
            return inner.height === 0 || inner.top < outer.top + room || inner.bottom > outer.bottom - room || outer.bottom > innerHeight;
          });
          assert.equal(outside, false, `${name} on ${size.width}x${size.height}`);
        }
      }
    },
    "closes its languages when a visitor touches elsewhere": async (page, { ui }) => {
      await page.goto(`${ui.url}kiosk.html?example=attract`);
      await page.getByRole("button", { name: "English" }).click();
      const sheet = page.getByRole("group", { name: "Language" });
      await sheet.waitFor();
      await page.mouse.click(300, page.viewportSize().height - 40);
      // It closes by itself only after twenty seconds.
      await sheet.waitFor({ state: "detached", timeout: 15_000 });
      await page.getByRole("button", { name: "English" }).click();
      await sheet.getByRole("button", { name: "Deutsch" }).click();
      await page.locator("main[lang=de]").waitFor();
    },
    "is loaded again without a sign of the visits before": async (page, { ui }) => {
      // Of today's visitors, 57 placed a tag, and the owner asked for the PIN twice.
      await kioskHost(page, { tags: 57, asked: 2 });
      await page.goto(`${ui.url}kiosk.html`);
      await page.getByText("Place your tag here").waitFor();
      await page.waitForFunction(() => globalThis.host.beats > 0);
      assert.equal(await page.getByRole("dialog").count(), 0);
      await shows(page, { tags: 57, asked: 3 });
      await page.getByRole("dialog", { name: "PIN" }).waitFor();
    },
    "does not thank the visitor before for a tag that cannot be read": async (page, world) => {
      await waiting(page, world);
      await shows(page, { tags: 1, visit: open });
      await page.getByRole("button", { name: "Done" }).waitFor();
      await shows(page, { tags: 1 });
      await page.getByRole("heading", { name: "Thank you for your visit." }).waitFor();
      // The moment of reading was too short to be seen.
      await shows(page, { tags: 2, has_tag: true, notice: "unread" });
      await page.getByText("The tag could not be read.").waitFor();
      // Both are drawn at once. The thanks would end by themselves soon.
      assert.ok(await page.getByRole("heading", { name: "Place your tag here" }).isVisible());
    },
    "tells visitors in their language why the page closed, and nothing to the next one": async (page, world) => {
      await waiting(page, world);
      await page.getByRole("button", { name: "English" }).click();
      await page.getByRole("button", { name: "Deutsch" }).click();
      await shows(page, { tags: 1, visit: open });
      await page.getByRole("button", { name: "Fertig" }).waitFor();
      await shows(page, { tags: 1, notice: "broke" });
      await page.getByText("Die Seite funktioniert nicht mehr.").waitFor();
      await page.getByRole("heading", { name: "Legen Sie Ihren Anhänger hier auf" }).waitFor();
      // The shell removes a message that was there long enough.
      await shows(page, { tags: 1 });
      await page.getByRole("heading", { name: "Place your tag here" }).waitFor();
      assert.equal(await page.getByText(/funktioniert|stopped working|Danke|Thank/).count(), 0);
      // A tag that opens nothing during a visit can be another visitor's.
      await page.getByRole("button", { name: "English" }).click();
      await page.getByRole("button", { name: "Deutsch" }).click();
      await shows(page, { tags: 2, visit: open });
      await page.getByRole("button", { name: "Fertig" }).waitFor();
      await shows(page, { tags: 3, notice: "blank" });
      await page.getByText("This tag has no content yet.").waitFor();
      // Who chooses a language while the message is there keeps it for the visit.
      await shows(page, { tags: 4, visit: open });
      await shows(page, { tags: 4, notice: "failed" });
      await page.getByText("The page cannot be reached.").waitFor();
      await page.getByRole("button", { name: "English" }).click();
      await page.getByRole("button", { name: "Polski" }).click();
      await shows(page, { tags: 5, visit: open });
      await page.getByRole("button", { name: "Gotowe" }).waitFor();
    },
    "keeps its size under two fingers": async (page, world) => {
      await waiting(page, world);
      const prevented = (fingers) =>
        page.evaluate((fingers) => {
          const touches = Array.from({ length: fingers }, (_, identifier) => new Touch({ identifier, target: document.body }));
          const move = new TouchEvent("touchmove", { touches, bubbles: true, cancelable: true });
          return !document.body.dispatchEvent(move);
        }, fingers);
      assert.equal(await prevented(1), false);
      assert.equal(await prevented(2), true);
    },
    "shows each video to its end, and then the next picture": async (page, { ui }) => {
      await page.emulateMedia({ reducedMotion: "no-preference" });
      await page.addInitScript(() => {
        Object.defineProperty(HTMLMediaElement.prototype, "duration", { get: () => 4 });
        Object.defineProperty(HTMLMediaElement.prototype, "play", { value: () => Promise.resolve() });
      });
      await page.route("**/film.mp4", (route) => route.fulfill({ body: "a film", contentType: "video/mp4" }));
      await page.route("**/vase.svg", (route) =>
        route.fulfill({ body: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>', contentType: "image/svg+xml" }),
      );
      await kioskHost(page, {}, {}, { pictures: ["film.mp4", "vase.svg"], picture_seconds: 2 });
      await page.goto(`${ui.url}kiosk.html`);
      const film = page.locator("video");
      await film.waitFor({ state: "attached" });
      const began = Date.now();
      await film.dispatchEvent("loadedmetadata");
      await page.locator(".media img").waitFor({ state: "attached" });
      const lasted = Date.now() - began;
      assert.ok(lasted > 3_000, `${lasted} ms`);
      // A picture has the owner's time.
      await film.waitFor({ state: "attached", timeout: 10_000 });
    },
    "leads a visitor from the tag to the verdict, the page and the thanks, and leaves no trace": async (page, world) => {
      await waiting(page, world);
      await shows(page, { has_tag: true, is_reading: true });
      await page.getByRole("heading", { name: "Reading your tag" }).waitFor();
      await shows(page, { has_tag: true, tags: 1, visit: { ...open, is_open: false } });
      await page.getByRole("heading", { name: "Your tag is genuine." }).waitFor();
      await shows(page, { has_tag: true, tags: 1, visit: { ...open, number: 7 } });
      await page.getByRole("button", { name: "Done" }).click();
      // It ends this visit: the next one may have begun in the meantime.
      assert.deepEqual(await page.evaluate(() => globalThis.host.done), [7]);
      await shows(page, { has_tag: true, tags: 1 });
      await page.getByRole("heading", { name: "Thank you for your visit." }).waitFor();
      await page.getByText("Take your tag with you.").waitFor();
      // The next visitor need not wait for the end of the thanks.
      await shows(page, { has_tag: true, tags: 2, visit: { ...open, verified: false, is_open: false } });
      await page.getByRole("heading", { name: "This tag could not be verified." }).waitFor();
      assert.equal(await page.getByText(/genuine|Thank you/).count(), 0);
    },
    "asks to lift a tag that was left on the reader": async (page, world) => {
      await waiting(page, world);
      await shows(page, { has_tag: true });
      await page.getByRole("heading", { name: "Lift your tag off the reader" }).waitFor();
      await shows(page, {});
      await page.getByRole("heading", { name: "Place your tag here" }).waitFor();
    },
    "its code follows the address of the computer": async (page, { ui }) => {
      await kioskHost(page, {}, {}, { code: "http://192.0.2.7:8787/t/k3v9qa" });
      await page.goto(`${ui.url}kiosk.html`);
      const code = (address) => page.getByAltText(`QR code of ${address}/t/k3v9qa`);
      await code("http://192.0.2.7:8787").waitFor();
      await page.evaluate(() => {
        const { answers } = globalThis.host;
        answers.kiosk_attract = { ...answers.kiosk_attract, code: "http://192.0.2.9:8787/t/k3v9qa" };
      });
      await shows(page, { network: 1 });
      await code("http://192.0.2.9:8787").waitFor();
      assert.equal(await code("http://192.0.2.7:8787").count(), 0);
    },
    "tells the shell that it works": async (page, world) => {
      await waiting(page, world);
      await page.waitForFunction(() => globalThis.host.beats >= 2);
    },
    "the PIN pad opens with a held corner, takes keys, and says what was wrong": async (page, { ui }) => {
      await kioskHost(page);
      await page.goto(`${ui.url}kiosk.html`);
      await page.getByText("Place your tag here").waitFor();
      await page.mouse.move(20, 20);
      await page.mouse.down();
      await page.getByRole("dialog").waitFor();
      await page.mouse.up();
      await page.getByRole("button", { name: "2", exact: true }).click();
      await page.keyboard.type("580");
      await page.keyboard.press("Enter");
      await page.getByText("Wrong PIN.").waitFor();
      assert.deepEqual(await page.evaluate(() => globalThis.host.tried), ["2580"]);
      assert.equal(await page.getByLabel("0 digits").count(), 1);
    },
    "the PIN pad fits into a small window at 150 %": async (page, { ui }) => {
      // 1024x700 at 150 %.
      await page.setViewportSize({ width: 683, height: 467 });
      await example("pin", "Cancel")(page, { ui });
      const parts = page.getByRole("dialog").locator("h1, p, button");
      for (const part of await parts.all()) {
        const { x, y, width, height } = await part.boundingBox();
        const name = await part.textContent();
        assert.ok(x >= 0 && y >= 0 && x + width <= 683 && y + height <= 467, name);
      }
      const keys = await page.getByRole("dialog").getByRole("button").all();
      assert.equal(keys.length, 13);
      for (const key of keys) assert.ok((await key.boundingBox()).height >= 64);
    },
    "a visitor chooses a language, which is the usual one again after the visit": async (page, { ui }) => {
      await kioskHost(page);
      await page.goto(`${ui.url}kiosk.html`);
      await page.getByText("Place your tag here").waitFor();
      await page.getByRole("button", { name: "English" }).click();
      assert.equal(await page.getByRole("group", { name: "Language" }).getByRole("button").count(), 12);
      await page.getByRole("button", { name: "العربية" }).click();
      await page.locator("main[lang=ar][dir=rtl]").getByRole("heading", { name: "ضع بطاقتك هنا" }).waitFor();
      await shows(page, { tags: 1, visit: open });
      await page.getByRole("button", { name: "تم" }).waitFor();
      // The visitor is thanked in the chosen language.
      await shows(page, { tags: 1 });
      await page.getByRole("heading", { name: "شكرًا لزيارتك" }).waitFor();
      await page.getByRole("heading", { name: "Place your tag here" }).waitFor();
      // The shell knows in which language each page opens.
      assert.deepEqual(await page.evaluate(() => globalThis.host.spoken), ["en", "ar", "en"]);
      // Another visitor who comes during the thanks does not inherit it.
      await page.getByRole("button", { name: "English" }).click();
      await page.getByRole("button", { name: "Deutsch" }).click();
      await shows(page, { tags: 2, visit: open });
      await page.getByRole("button", { name: "Fertig" }).waitFor();
      await shows(page, { tags: 2 });
      await page.getByRole("heading", { name: "Danke für Ihren Besuch." }).waitFor();
      await shows(page, { tags: 2, is_reading: true });
      await page.getByRole("heading", { name: "Reading your tag" }).waitFor();
      assert.deepEqual(await page.evaluate(() => globalThis.host.spoken.slice(-2)), ["de", "en"]);
    },
    "the PIN pad closes when a tag is placed on the reader": async (page, { ui }) => {
      await kioskHost(page);
      await page.goto(`${ui.url}kiosk.html`);
      await page.keyboard.down("Escape");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.up("Escape");
      await shows(page, { tags: 1, visit: open });
      await page.getByRole("button", { name: "Done" }).waitFor();
      await shows(page, { tags: 1 });
      await page.getByText("Place your tag here").waitFor();
      assert.equal(await page.getByRole("dialog").count(), 0);
    },
    "the Escape key held in a visit leads to the PIN pad": async (page, { ui }) => {
      await kioskHost(page);
      await page.goto(`${ui.url}kiosk.html`);
      await page.getByText("Place your tag here").waitFor();
      await shows(page, { tags: 1, visit: open });
      await page.getByRole("button", { name: "Done" }).waitFor();
      await shows(page, { tags: 1, asked: 1 });
      await page.getByRole("dialog", { name: "PIN" }).waitFor();
    },
    "a kiosk that cannot start says why, and can be closed without a PIN": async (page, { ui }) => {
      await kioskHost(page);
      await page.goto(`${ui.url}kiosk.html`);
      await page.getByText("Place your tag here").waitFor();
      const problem = { title: "The database is damaged.", text: "Restore a backup.", can_close: false, passes: false };
      await shows(page, { has_reader: false, problem });
      await page.getByRole("alert").getByText("Restore a backup.").waitFor();
      assert.equal(await page.getByRole("button").count(), 0);
      await shows(page, { has_reader: false, problem: { ...problem, can_close: true } });
      await page.getByRole("button", { name: "Close Tapdesk" }).click();
      assert.equal(await page.evaluate(() => globalThis.host.closed), true);
    },
    "a start that fails asks visitors to wait in their language, and names the reason for staff": async (page, world) => {
      await waiting(page, world);
      await page.getByRole("button", { name: "English" }).click();
      await page.getByRole("button", { name: "Deutsch" }).click();
      const problem = {
        title: "Port 8787 is used by another program.",
        text: "Close it. Tapdesk tries again by itself.",
        can_close: false,
        passes: true,
      };
      await shows(page, { has_reader: false, has_service: false, problem });
      await page.getByRole("heading", { name: "Einen Moment bitte." }).waitFor();
      await page.getByText("For staff: Port 8787 is used by another program. Close it. Tapdesk tries again by itself.").waitFor();
      // A page that is open does not need the service, so it stays.
      await shows(page, { has_service: false, problem: { ...problem, passes: false }, tags: 1, visit: open });
      await page.getByRole("button", { name: "Fertig" }).waitFor();
      await shows(page, { tags: 1 });
      await page.getByRole("heading", { name: "Danke für Ihren Besuch." }).waitFor();
      assert.equal(await page.getByText("For staff").count(), 0);
    },
  },
});
