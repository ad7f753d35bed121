// A list of a million tags: the service's first page and searches, and the
// frames of the window while it is scrolled. Prints, and judges nothing:
// `node tests/screens/scroll.mjs [TAGS]`, with a release build in TAPDESK_SERVICE.

import { performance } from "node:perf_hooks";
import { launch, open } from "./browser.mjs";
import { serveUi } from "./served.mjs";
import { client } from "./world.mjs";

const TAGS = Number(process.argv[2] ?? 1_000_000);
const PIECE = 100_000;
const things = ["Bottle", "Crate", "Bicycle", "Poster", "Jacket", "Watch", "Guitar", "Lamp"];

const ms = (value) => `${value.toFixed(1)} ms`;

/** Median and longest of some calls. */
async function timed(times, call) {
  const taken = [];
  for (let round = 0; round < times; round++) {
    const begun = performance.now();
    await call(round);
    taken.push(performance.now() - begun);
  }
  taken.sort((a, b) => a - b);
  return `median ${ms(taken[taken.length >> 1])}, longest ${ms(taken.at(-1))}`;
}

const ui = await serveUi();
const browser = await launch();
try {
  const api = client(ui);
  for (let from = 0; from < TAGS; from += PIECE) {
    const rows = ["name,slug,data:colour"];
    for (let number = from; number < Math.min(TAGS, from + PIECE); number++) {
      rows.push(`${things[number % 8]} ${number},tag-${String(number).padStart(8, "0")},red`);
    }
    const { refused } = await api.csv("/tags/import", rows.join("\n"));
    if (refused > 0) throw new Error(`${refused} rows were refused`);
    process.stderr.write(`\r${Math.min(TAGS, from + PIECE)} tags`);
  }
  process.stderr.write("\n");

  for (const sort of ["-created", "name", "-scans", "-last_scan"]) {
    console.log(`first page, ${sort}: ${await timed(20, () => api.get(`/tags?limit=100&sort=${sort}`))}`);
  }
  console.log(`first page with its count: ${await timed(20, () => api.get("/tags?limit=100&sort=-created&count=true"))}`);
  for (const q of ["999999", "watch 777", "bicycle", "la", "nowhere"]) {
    const path = `/tags?limit=100&sort=-created&q=${encodeURIComponent(q)}`;
    console.log(`search "${q}": ${await timed(20, () => api.get(path))}; with its count: ${await timed(5, () => api.get(`${path}&count=true`))}`);
  }

  const page = await open(browser, ui, { size: { width: 1280, height: 800 } });
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
  });
  await page.show("tags");
  await page.getByRole("list", { name: "Tags" }).waitFor();
  const scrolled = await page.evaluate(
    (seconds) =>
      new Promise((done) => {
        const list = document.querySelector(".rows");
        const frames = [];
        let last = performance.now();
        const begun = last;
        const step = (now) => {
          frames.push(now - last);
          last = now;
          // Three screens a frame: as fast as a wheel that is thrown.
          list.scrollTop += 3 * list.clientHeight;
          if (now - begun < seconds * 1_000) requestAnimationFrame(step);
          else done({ frames: frames.slice(1), rows: Math.round(list.scrollHeight / 36), tasks: window.tasks });
        };
        requestAnimationFrame(step);
      }),
    20,
  );
  const frames = scrolled.frames.sort((a, b) => a - b);
  console.log(
    `scrolling for 20 s: ${scrolled.rows} rows loaded; frames: ${frames.length}, median ${ms(frames[frames.length >> 1])}, ` +
      `99 % under ${ms(frames[Math.floor(frames.length * 0.99)])}, longest ${ms(frames.at(-1))}, over 100 ms: ${frames.filter((frame) => frame > 100).length}; ` +
      `work of the page at a stretch: longest ${scrolled.tasks.length > 0 ? ms(Math.max(...scrolled.tasks)) : "under 50 ms"}`,
  );
} finally {
  await browser.close();
  await ui.close();
}
