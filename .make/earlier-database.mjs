// Makes the database of a release for tests/fixtures/databases, which every later version must open:
//   node .make/earlier-database.mjs PROGRAM [VERSION]
// PROGRAM is the service of that release. The files are VERSION.backup, and VERSION.json with the answers of the
// release, which cli::sqlite::earlier compares with those of today.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const program = resolve(process.argv[2] ?? "target/release/tapdesk-service");
const version = process.argv[3] ?? execFileSync(program, ["--version"], { encoding: "utf8" }).trim().split(" ")[1];
const folder = new URL("../tests/fixtures/databases/", import.meta.url).pathname;
const work = mkdtempSync(join(tmpdir(), "tapdesk-earlier-"));
// The backup contains the key that wraps the keys of its inlays, sealed with this.
const passphrase = "an earlier release";
const environment = { ...process.env, TAPDESK_ADMIN_TOKEN: "0123456789abcdef".repeat(2), TAPDESK_PASSPHRASE: passphrase, TAPDESK_LOG: "warn" };

function cli(name, args, extra = {}) {
  return execFileSync(program, args, {
    env: { ...environment, TAPDESK_DATABASE: `sqlite:${join(work, name)}`, ...extra },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

// Runs `use` with the address of a service on this database.
async function serving(name, use) {
  const env = { ...environment, TAPDESK_DATABASE: `sqlite:${join(work, name)}`, TAPDESK_SHUTDOWN_DELAY: "0" };
  const service = spawn(program, ["serve", "--listen", "127.0.0.1:0"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => service.once("exit", done));
  try {
    for await (const line of createInterface({ input: service.stdout })) return await use(line.replace("listening on ", ""));
    throw new Error("the service did not start");
  } finally {
    service.kill("SIGTERM");
    await ended;
  }
}

async function call(base, method, path, body) {
  const headers = { Authorization: `Bearer ${environment.TAPDESK_ADMIN_TOKEN}`, "Content-Type": "application/json" };
  const answer = await fetch(`${base}/admin/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

// Rows of everything that an owner configures, and some taps.
async function fill(base) {
  const post = (path, body) => call(base, "POST", path, body);
  await call(base, "PATCH", "/settings", { tag_url: "https://tags.example/t", app_id: 42, retention_months: 1200, audit_months: 1200 });
  const story = await post("/experiences", { name: "Café story", kind: "redirect", target_url: "https://owner.example/{{tag:slug}}" });
  const product = await post("/groups", { kind: "product", name: "Riesling", code: "R-1", experience_id: story.id, attributes: { grape: "Riesling" } });
  const batch = await post("/groups", { kind: "batch", name: "2026", parent_id: product.id });
  const tag = await post("/tags", { slug: "bottle-1", name: "Flasche Ä", group_id: batch.id, attributes: { sku: "Ü 1" }, variables: { registered: "false" } });
  await call(base, "PATCH", `/tags/${tag.id}`, { slug: "bottle-one" });
  await post("/inlays", { uid: "04DE5F1EACC040", technology: "ntag424dna", mirror: "plain", tag_id: tag.id, file_key: `${"00".repeat(15)}01`, last_counter: 7 });
  await post("/master-keys", { name: "Bureau", key: "0123456789ABCDEF".repeat(2), derivation: { scheme: "an10922", input: "0102{uid}" } });
  await post("/url-templates", { name: "Short", template: "https://go.example/{slug}?u={uid}&c={counter}&m={mac}", technology: "ntag424dna" });
  await post("/webhooks", { url: "https://owner.example/hook", events: ["tap.verified"] });
  await post("/notifications", { kind: "alert", events: ["alert.backup_failed"], channel: { mail: ["owner@example.com"] } });
  await post("/tokens", { name: "prometheus", scopes: ["read"] });
  await post("/sheets", { name: "Delivery", planned: 5 });
  await fetch(`${base}/t/bottle-one`, { redirect: "manual" });
}

const LISTS = ["/tags?simulated=all", "/experiences", "/groups", "/inlays", "/simulator/inlays", "/master-keys",
  "/url-templates", "/webhooks", "/notifications", "/tokens", "/sheets", "/interactions?simulated=all", "/settings", "/audit"];
// What a day changes, or a service on another port.
const PASSING = new Set(["last_used_at", "url", "check", "visitor_group", "failures", "next", "hash", "previous_hash"]);
const lasting = (value) =>
  Array.isArray(value) ? value.map(lasting)
  : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).filter(([name]) => !PASSING.has(name)).map(([name, one]) => [name, lasting(one)]))
  : value;

// A one-time URL that was never opened: it verifies if the keys can still be opened.
let unused = "";
try {
  await serving("made.db", async (base) => {
    const url = { TAPDESK_URL: base };
    await fill(base);
    cli("made.db", ["demo"], url);
    const taps = cli("made.db", ["tap", "demo-bottle", "--count", "2"], url).trim().split("\n");
    await fetch(taps[0].replace("https://tags.example", base), { redirect: "manual" });
    unused = taps[1];
    cli("made.db", ["backup", join(work, "made.backup")], url);
  });
  cli("restored.db", ["restore", join(work, "made.backup")]);
  const answers = await serving("restored.db", async (base) => {
    const found = {};
    for (const path of LISTS) found[path] = lasting(await call(base, "GET", path));
    // Each restore has a row of its own.
    found["/audit"].items = found["/audit"].items.filter(({ action }) => action !== "backup.restore");
    // A later version may have other defaults.
    found["/settings"] = Object.fromEntries(Object.entries(found["/settings"]).filter(([, { source }]) => source === "stored"));
    return found;
  });
  cpSync(join(work, "made.backup"), join(folder, `${version}.backup`));
  writeFileSync(join(folder, `${version}.json`), `${JSON.stringify({ passphrase, unused, answers }, null, 2)}\n`);
  console.log(`tests/fixtures/databases/${version}.backup and ${version}.json`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
