// The example for n8n: its workflow, with events that a running service signed. n8n itself has 156 direct dependencies, too many
// to install for a test, so a stand-in runs the nodes: the code as it is, the others by their parameters.

import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import vm from "node:vm";
import { expect, test } from "@playwright/test";
import { PATIENCE } from "../../screens/browser.mjs";
import { serveUi } from "../../screens/served.mjs";
import { client } from "../../screens/world.mjs";
import { tagAt } from "../owner.mjs";
import { read } from "./example.mjs";

const workflow = async () => JSON.parse(await read("n8n/tapdesk.json"));
/** The versions of nodes whose parameters were compared with n8n-nodes-base 2.41.2. */
const KNOWN = {
  stickyNote: 1,
  webhook: 2,
  code: 2,
  if: 2.2,
  respondToWebhook: 1.1,
  removeDuplicates: 2,
  switch: 3.2,
  httpRequest: 4.2,
};
const kindOf = ({ type }) => type.replace("n8n-nodes-base.", "");

/** Runs a Code node as n8n does: with its items, no globals of node but a few, and the built-in module that the README allows. */
async function runCode(code, items, { body, secret } = {}) {
  const require = (name) => {
    assert.equal(name, "crypto");
    return createRequire(import.meta.url)(name);
  };
  const $input = { all: () => items, first: () => items[0] };
  const $env = { TAPDESK_WEBHOOK_SECRET: secret };
  const helpers = {
    async getBinaryDataBuffer(index, name) {
      assert.deepEqual([index, name], [0, "data"]);
      return body;
    },
  };
  const context = vm.createContext({ $input, $env, require, Buffer, self: { helpers } });
  const answer = await vm.runInContext(`(async function () {\n${code}\n}).call(self)`, context, { timeout: 5_000 });
  // As n8n gets it from its task runner.
  return JSON.parse(JSON.stringify(answer));
}

const operations = {
  equals: (left, right) => left === right,
  startsWith: (left, right) => left.startsWith(right),
  true: (left) => left === true,
};

/** The value of an expression such as `={{ $json.type }}`. */
const valueOf = (expression, $json) => vm.runInNewContext(/^=\{\{(.*)\}\}$/.exec(expression)[1], { $json });
const holds = ({ conditions }, $json) =>
  conditions.every(({ leftValue, rightValue, operator }) => operations[operator.operation](valueOf(leftValue, $json), rightValue));

/** Follows a request from node to node. `seen` are the ids of former ones. */
async function execute({ headers, body }, { secret, seen = new Set() }) {
  const { nodes, connections } = await workflow();
  const outcome = { status: null, sent: [] };
  const outputs = {
    code: async ({ jsCode }, items) => [await runCode(jsCode, items, { body, secret })],
    if: ({ conditions }, items) => [
      items.filter(({ json }) => holds(conditions, json)),
      items.filter(({ json }) => !holds(conditions, json)),
    ],
    switch: ({ rules }, items) => rules.values.map(({ conditions }) => items.filter(({ json }) => holds(conditions, json))),
    removeDuplicates: ({ dedupeValue }, items) => [
      items.filter(({ json }) => !seen.has(valueOf(dedupeValue, json)) && seen.add(valueOf(dedupeValue, json))),
    ],
    respondToWebhook({ options }, items) {
      assert.equal(outcome.status, null);
      outcome.status = options.responseCode;
      return [items];
    },
    httpRequest({ jsonBody }, items) {
      outcome.sent.push(...items.map(({ json }) => JSON.parse(vm.runInNewContext(/^=\{\{(.*)\}\}$/.exec(jsonBody)[1], { $json: json }))));
      return [];
    },
  };
  const run = async (name, items) => {
    const node = nodes.find((one) => one.name === name);
    const results = kindOf(node) === "webhook" ? [items] : await outputs[kindOf(node)](node.parameters, items);
    for (const [index, next] of (connections[name]?.main ?? []).entries())
      for (const { node: following } of next) if (results[index]?.length) await run(following, results[index]);
  };
  await run("Webhook", [{ json: { headers, params: {}, query: {}, body: {} } }]);
  return outcome;
}

/** A request with this event, signed by the rules of Standard Webhooks 1.0. */
function signed(secret, event, { id = "msg_1", at = Math.floor(Date.now() / 1000) } = {}) {
  const body = Buffer.from(JSON.stringify(event));
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest("base64");
  return { headers: { "webhook-id": id, "webhook-timestamp": `${at}`, "webhook-signature": `v1,${signature}` }, body };
}

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const updated = (changes, more = {}) => ({
  type: "tag.updated",
  timestamp: "2026-01-01T00:00:00Z",
  data: { tag_id: 41, slug: "k3v9qa", tag_name: "Bottle 41", interaction_id: 7, changes, simulated: false, ...more },
});
const registration = updated([
  { key: "registered", old: "false", new: "true" },
  { key: "owner", old: "", new: 'Anna "<b>' },
]);

test("the nodes of the workflow are known, named once, and connected", async () => {
  const { nodes, connections, active, settings } = await workflow();
  assert.deepEqual([active, settings.executionOrder], [false, "v1"]);
  const names = nodes.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.equal(new Set(nodes.map(({ id }) => id)).size, nodes.length);
  for (const node of nodes) assert.equal(node.typeVersion, KNOWN[kindOf(node)], node.type);
  const reached = new Set(["Webhook", "Read me"]);
  for (const [from, { main }] of Object.entries(connections)) {
    assert.ok(names.includes(from), from);
    for (const { node, type, index } of main.flat()) {
      assert.ok(names.includes(node), node);
      assert.deepEqual([type, index], ["main", 0]);
      reached.add(node);
    }
  }
  assert.deepEqual([...reached].sort(), [...names].sort());
  const { parameters } = nodes.find(({ name }) => name === "Webhook");
  assert.deepEqual([parameters.httpMethod, parameters.responseMode, parameters.options.rawBody], ["POST", "responseNode", true]);
  const verify = nodes.find(({ name }) => name === "Verify signature").parameters.jsCode;
  assert.ok(verify.includes("$env.TAPDESK_WEBHOOK_SECRET"));
  assert.doesNotMatch(JSON.stringify(nodes), /whsec_[\w+/]{8}/);
});

test("the workflow acts by event, and once for each", async () => {
  const seen = new Set();
  const first = await execute(signed(secret, registration), { secret, seen });
  assert.deepEqual(first, { status: 204, sent: [{ text: 'Bottle 41 was registered by Anna "<b>.' }] });
  assert.deepEqual(await execute(signed(secret, registration), { secret, seen }), { status: 204, sent: [] });
  for (const [event, sent] of [
    [updated([{ key: "registered", new: "true" }], { tag_name: null, simulated: true }), ["Simulated: Tag 41 was registered."]],
    [updated([{ key: "owner" }]), []],
    [
      { type: "alert.copied_url", timestamp: "", data: { tag_id: 41, counter: 7, message: "A URL was copied." } },
      ["Alert from Tapdesk: A URL was copied."],
    ],
    [{ type: "tap.verified", timestamp: "", data: {} }, []],
    [{ type: "webhook.test", timestamp: "", data: {} }, []],
  ]) {
    const outcome = await execute(signed(secret, event), { secret });
    assert.deepEqual(outcome, { status: 204, sent: sent.map((text) => ({ text })) }, event.type);
  }
});

test("the workflow refuses everything that is not signed now", async () => {
  const { headers, body } = signed(secret, registration);
  const now = Math.floor(Date.now() / 1000);
  const other = `whsec_${randomBytes(32).toString("base64")}`;
  for (const [request, why] of [
    [{ headers: {}, body }, "no headers"],
    [{ headers, body: Buffer.concat([body, Buffer.from(" ")]) }, "another body"],
    [{ headers: { ...headers, "webhook-id": "msg_2" }, body }, "another id"],
    [{ headers: { ...headers, "webhook-signature": "v1,AAAA v1a,AAAA" }, body }, "another signature"],
    [{ headers: { ...headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") }, body }, "another version"],
    [signed(other, registration), "another secret"],
    [signed(secret, registration, { at: now - 400 }), "too old"],
    [signed(secret, registration, { at: now + 400 }), "from the future"],
    [signed(secret, registration, { at: "9".repeat(5_000) }), "no time"],
  ])
    assert.deepEqual(await execute(request, { secret }), { status: 400, sent: [] }, why);
  // While a secret is being replaced, there are two signatures.
  const both = `v1,AAAA ${headers["webhook-signature"]}`;
  assert.equal((await execute({ headers: { ...headers, "webhook-signature": both }, body }, { secret })).status, 204);
  // Anyone could sign with an empty secret.
  for (const missing of [undefined, "", "whsec_"])
    await assert.rejects(execute(signed("", registration), { secret: missing }), /TAPDESK_WEBHOOK_SECRET is missing/);
});

test("the workflow accepts webhooks of a running service", async () => {
  const ui = await serveUi(undefined, { TAPDESK_PRIVATE_WEBHOOKS: "true" });
  const received = [];
  const receiver = createServer((request, response) => {
    void request.toArray().then((pieces) => {
      received.push({ headers: request.headers, body: Buffer.concat(pieces) });
      response.writeHead(204).end();
    });
  });
  try {
    await new Promise((listening) => receiver.listen(0, "127.0.0.1", listening));
    const api = client(ui);
    const url = `http://127.0.0.1:${receiver.address().port}/webhook/tapdesk`;
    const webhook = await api.post("/webhooks", { url, events: ["tag.updated"], include: ["variables"] });
    const tag = await tagAt(ui, "https://shop.example.com/product");
    const location = new URL((await fetch(tag.tap(), { redirect: "manual" })).headers.get("location"));
    assert.equal(await api.update(btoa(location.searchParams.get("rk")), { registered: "true", owner: "Anna" }), 200);
    await expect.poll(() => received.length, { timeout: PATIENCE }).toBeGreaterThan(0);
    const outcome = await execute(received[0], { secret: webhook.secret });
    assert.deepEqual(outcome, { status: 204, sent: [{ text: `${tag.name} was registered by Anna.` }] });
  } finally {
    receiver.closeAllConnections();
    receiver.close();
    await ui.close();
  }
});
