// The list of a million tags: how long its pages and searches take, the frames and the memory
// of the window while it is scrolled, and while a thousand taps a second come in. Prints, and
// judges nothing: `node tests/screens/scroll.mjs [TAGS]`, with a release build in TAPDESK_SERVICE.

import { Agent, request } from "node:http";
import { performance } from "node:perf_hooks";
import { launch, open } from "./browser.mjs";
import { serveUi } from "./served.mjs";
import { client } from "./world.mjs";

const TAGS = Number(process.argv[2] ?? 1_000_000);
const PIECE = 100_000;
/** Taps a second that come in while a screen is looked at. */
const RATE = 1_000;
/** Tags that are tapped in turn. */
const SENT = 50_000;
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

/** Frames while the list is scrolled by so many screens a frame, and the work at a stretch. */
async function frames(page, seconds, screens) {
  const seen = await page.evaluate(
    ([seconds, screens]) =>
      new Promise((done) => {
        window.tasks = [];
        const frames = [];
        let last = performance.now();
        const begun = last;
        const step = (now) => {
          frames.push(now - last);
          last = now;
          const list = document.querySelector(".rows");
          if (list) list.scrollTop += screens * list.clientHeight;
          if (now - begun < seconds * 1_000) requestAnimationFrame(step);
          else done({ frames: frames.slice(1), rows: Math.round((list?.scrollHeight ?? 0) / 36), tasks: window.tasks });
        };
        requestAnimationFrame(step);
      }),
    [seconds, screens],
  );
  const sorted = seen.frames.sort((a, b) => a - b);
  const longest = seen.tasks.length > 0 ? ms(Math.max(...seen.tasks)) : "under 50 ms";
  const words =
    `frames: ${sorted.length}, median ${ms(sorted[sorted.length >> 1])}, 99 % under ${ms(sorted[Math.floor(sorted.length * 0.99)])}, ` +
    `longest ${ms(sorted.at(-1))}, over 100 ms: ${sorted.filter((frame) => frame > 100).length}; work of the page at a stretch: longest ${longest}`;
  return { rows: seen.rows, words };
}

/** The memory that the page's objects take, after a collection; the window's whole memory is measured by `make bench`. */
async function memoryOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  return async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    const { nodes } = await session.send("Memory.getDOMCounters");
    return `${(usedSize / 2 ** 20).toFixed(1)} MiB, ${nodes} nodes`;
  };
}

/** Visits of many tags without a code, so many a second, each tag in turn. */
class Taps {
  answered = 0;
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #timer;
  #next = 0;
  #open = new Set();

  constructor(service, tags, rate) {
    Object.assign(this, { service, tags, rate });
  }

  start() {
    const begun = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      // What falls due, as long as the service keeps up: it is the screens that are measured.
      const due = ((performance.now() - begun) / 1_000) * this.rate;
      while (sent < due && this.#open.size < 512) {
        sent++;
        this.#visit(`tag-${String(this.#next++ % this.tags).padStart(8, "0")}`);
      }
    }, 5);
  }

  #visit(slug) {
    const visit = new Promise((done) => {
      const asked = request(`${this.service}/t/${slug}`, { agent: this.#agent }, (answer) => {
        this.answered++;
        answer.resume().once("end", done);
      });
      asked.once("error", done).end();
    });
    this.#open.add(visit);
    void visit.then(() => this.#open.delete(visit));
  }

  async pause() {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  async end() {
    await this.pause();
    this.#agent.destroy();
  }
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
    console.log(
      `search "${q}": ${await timed(20, () => api.get(path))}; with its count: ${await timed(5, () => api.get(`${path}&count=true`))}`,
    );
  }

  const page = await open(browser, ui, { size: { width: 1280, height: 800 } });
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
  });
  const memory = await memoryOf(page);
  await page.show("tags");
  await page.getByRole("grid", { name: "Tags" }).waitFor();
  console.log(`memory of the page with the first rows: ${await memory()}`);
  // Three screens a frame: as fast as a wheel that is thrown.
  const scrolled = await frames(page, 20, 3);
  console.log(`scrolling for 20 s: ${scrolled.rows} rows loaded; ${scrolled.words}; memory of the page: ${await memory()}`);

  const busy = new Taps(ui.service, Math.min(TAGS, SENT), RATE);
  try {
    for (const screen of ["tags", "interactions", "overview"]) {
      await page.show(screen);
      const before = busy.answered;
      busy.start();
      const begun = performance.now();
      // The rows move by themselves; the list of tags is scrolled a little beside.
      const shown = await frames(page, 20, screen === "tags" ? 0.2 : 0);
      const rate = (busy.answered - before) / ((performance.now() - begun) / 1_000);
      console.log(
        `${screen}, ${Math.round(rate)} of ${RATE} taps a second for 20 s: ${shown.words}; memory of the page: ${await memory()}`,
      );
      await busy.pause();
    }
  } finally {
    await busy.end();
  }
} finally {
  await browser.close();
  await ui.close();
}
