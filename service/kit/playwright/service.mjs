// A service of `tapdesk-service dev` and its inlays, for any test runner. Types are in service.d.mts.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** How long a start may take, in milliseconds. It takes under 200, but tests share their machine. */
const START = 60_000;
/** How long the service may take to end before it is killed, in milliseconds. */
const END = 10_000;
/** A moment longer than a rolling key is valid (specification 8), in milliseconds. */
const EXPIRY = 300_001;
/** How much of the service's log an error repeats, in characters. */
const LOG = 4_000;

const NOT_FOUND = (command) =>
  `tapdesk: ${command} is not found. Install the service, or name its path in the option tapdeskCommand or in the variable TAPDESK_SERVICE.`;

/** Starts a service. It ends with `end()`, or with this process. */
export async function start({ command = process.env.TAPDESK_SERVICE || "tapdesk-service", seed, port = 0 } = {}) {
  const seeded = seed === undefined || seed === null ? [] : ["--seed", `${seed}`];
  const child = spawn(command, ["dev", "--until-stdin-closes", "--port", `${port}`, ...seeded], { stdio: "pipe" });
  // A service that has ended does not read, and says so when its end is asked for.
  child.stdin.on("error", () => undefined);
  let log = "";
  child.stderr.on("data", (text) => (log = (log + text).slice(-LOG)));
  let timer;
  try {
    const line = await new Promise((started, failed) => {
      child.once("error", (error) =>
        failed(error.code === "ENOENT" ? new Error(NOT_FOUND(command)) : new Error(`tapdesk: ${command} cannot be run: ${error.message}`)),
      );
      child.once("close", (code) => failed(new Error(`tapdesk: ${command} dev ended with ${code}: ${log.trim()}`)));
      createInterface({ input: child.stdout }).once("line", started);
      timer = setTimeout(() => failed(new Error(`tapdesk: ${command} dev did not start within ${START / 1_000} seconds. ${log}`)), START);
    });
    return new Service(child, JSON.parse(line));
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Opens a URL like a phone that shows no page. Returns where it leads to. */
async function visit(url) {
  const answer = await fetch(url, { redirect: "manual" });
  await answer.body?.cancel();
  return answer.headers.get("location");
}

export class Service {
  #child;
  /** The id of the experience that leads to each page. */
  #experiences = new Map();

  constructor(child, { url, token, seed, now, tags }) {
    this.#child = child;
    Object.assign(this, { url, token, seed, startedAt: new Date(now), tags });
  }

  async call(method, path, body) {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json" };
    const request = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    const answer = await fetch(`${this.url}/admin/v1${path}`, request);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`tapdesk: ${method} ${path} answered ${answer.status}: ${text}`);
    return text ? JSON.parse(text) : null;
  }

  async advance(milliseconds) {
    const { now } = await this.call("POST", "/clock", { advance_ms: milliseconds });
    return new Date(now);
  }

  async inlay({ page, tag = {} } = {}) {
    const experience_id = page === undefined ? undefined : await this.#leadTo(page);
    const members = { name: "Bottle", variables: { registered: "false" }, experience_id, ...tag };
    const { id, tag_id, uid } = await this.call("POST", "/simulator/inlays", { tag: members });
    return new Inlay(this, { id, uid, page, tag: await this.call("GET", `/tags/${tag_id}`) });
  }

  async #leadTo(page) {
    if (this.#experiences.size === 0) await this.call("PATCH", "/settings", { simulated_targets: "real" });
    const known = this.#experiences.get(page);
    if (known) return known;
    const { id } = await this.call("POST", "/experiences", { name: page.slice(0, 200), kind: "redirect", target_url: page });
    this.#experiences.set(page, id);
    return id;
  }

  async end() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((done) => this.#child.once("exit", done));
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), END);
    await ended;
    clearTimeout(timer);
  }
}

export class Inlay {
  #service;

  constructor(service, { id, uid, page, tag }) {
    this.#service = service;
    Object.assign(this, { id, uid, page, tag });
  }

  async url(options = {}) {
    return (await this.#service.call("POST", `/simulator/inlays/${this.id}/tap`, options)).url;
  }

  async tap(page) {
    return page.goto(await this.url());
  }

  async replayed(page) {
    const url = await this.url();
    await visit(url);
    return page.goto(url);
  }

  async forged(page) {
    return page.goto(await this.url({ tamper: true }));
  }

  async cloned(page) {
    const copied = await this.url();
    await visit(await this.url());
    return page.goto(copied);
  }

  async expired(page) {
    const location = await visit(await this.url());
    if (location === null) throw new Error("tapdesk: an expired tap needs a page: name it in the option tapPage.");
    await this.#service.advance(EXPIRY);
    return page.goto(location);
  }

  async variables() {
    return (await this.#service.call("GET", `/tags/${this.tag.id}`)).variables;
  }
}
