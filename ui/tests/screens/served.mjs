// The built UI, served for tests in a browser: a proxy that adds the admin
// token, which the page never sees. The product itself has no web UI.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { access, cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { slowly } from "./slow.mjs";

/** Where the served UI has axe. */
export const AXE = "/axe-for-tests.js";
/** Where it has a page without anything. */
export const BLANK = "/blank-for-tests.html";
// The small form of axe: a document reads it in half the time.
export const axeSource = `${readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8")}
axe.configure({ allowedOrigins: ["<unsafe_all_origins>"] });`;

const ui = fileURLToPath(new URL("../..", import.meta.url));
const root = join(ui, "..");
const TOKEN = "a token only for tests, long enough";
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/**
 * Starts a service of its own on a new database and serves the UI over it; at `listen`, also to other devices. `options`
 * are further ones of the service, as environment variables. The database is a copy if `past` names the folder of a
 * service that was stopped.
 */
export async function serveUi(listen = "127.0.0.1:0", options = {}, past = undefined) {
  const binary = process.env.TAPDESK_SERVICE ?? join(root, "target/debug/tapdesk-service");
  await access(binary).catch(() => {
    throw new Error(`${binary} is missing: run cargo build -p tapdesk-service first, or name one in TAPDESK_SERVICE.`);
  });
  await access(join(ui, "dist/index.html")).catch(() => {
    throw new Error("The UI is not built: run npm run build first.");
  });
  const folder = await mkdtemp(join(tmpdir(), "tapdesk-ui-"));
  if (past) await cp(past, folder, { recursive: true });
  const service = spawn(
    binary,
    ["serve", "--database", `sqlite:${folder}/tapdesk.db`, "--listen", listen, ...(listen.startsWith("127.") ? [] : ["--expose-admin"])],
    {
      env: { ...process.env, TAPDESK_ADMIN_TOKEN: TOKEN, TAPDESK_TEST_CLOCK: "1", TAPDESK_RATE_LIMIT: "off", ...options },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const address = await new Promise((resolve, reject) => {
    service.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
    service.stdout.on("data", (text) => {
      const found = /listening on (\S+)/.exec(String(text));
      if (found) resolve(new URL(found[1].replace("//0.0.0.0:", "//127.0.0.1:")));
    });
  });
  const server = createServer((incoming, outgoing) => {
    // The stand-in for the desktop names the connection before each path, as the desktop does.
    incoming.url = incoming.url.replace(/^\/(embedded|shop)(?=\/)/, "");
    const path = new URL(incoming.url, "http://x").pathname;
    if (/^\/(admin|v2|t|media|stand-in)\//.test(`${path}/`)) void forward(incoming, outgoing, address);
    else void file(path, outgoing);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  async function stop() {
    server.closeAllConnections();
    server.close();
    const ended = new Promise((resolve) => service.once("exit", resolve));
    // As by Ctrl-C: no balancer needs to learn of it.
    if (service.kill("SIGINT")) await ended;
  }
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    service: address.href.replace(/\/$/, ""),
    token: TOKEN,
    folder,
    /** Ends all of it, and keeps the folder. */
    stop,
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function forward(incoming, outgoing, address) {
  await slowly("requests");
  const headers = { ...incoming.headers, host: address.host, authorization: `Bearer ${TOKEN}` };
  // A connection of its own: one that is kept may be closed by the service as it is used again.
  const onward = request(
    { agent: false, host: address.hostname, port: address.port, path: incoming.url, method: incoming.method, headers },
    (answer) => void respond(answer, outgoing),
  );
  onward.on("error", () => outgoing.writeHead(502).end());
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
}

async function respond(answer, outgoing) {
  const isEvents = answer.headers["content-type"] === "text/event-stream";
  if (!isEvents) await slowly("answers");
  outgoing.writeHead(answer.statusCode, answer.headers).flushHeaders();
  if (!isEvents) return void answer.pipe(outgoing);
  answer.on("data", (event) => void slowly("events").then(() => outgoing.write(event)));
  answer.on("end", () => void slowly("events").then(() => outgoing.end()));
}

const own = { [AXE]: axeSource, [BLANK]: "<title>Blank</title>" };
const contents = (name) => own[name] ?? readFile(join(ui, "dist", name));

async function file(path, outgoing) {
  const name = normalize(path === "/" ? "/index.html" : path);
  try {
    const body = await contents(name);
    // The name of an asset contains its digest: a window fetches and compiles it once.
    const kept = name.startsWith("/assets/") || name === AXE ? { "cache-control": "max-age=31536000, immutable" } : {};
    outgoing.writeHead(200, { "content-type": types[extname(name)] ?? "application/octet-stream", ...kept }).end(body);
  } catch {
    outgoing.writeHead(path === "/favicon.ico" ? 204 : 404).end();
  }
}
