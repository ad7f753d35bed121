// An owner's site, and tags that lead to it.

import { createServer } from "node:http";
import { client } from "../screens/world.mjs";
import { Inlay } from "../screens/inlay.mjs";

const types = { html: "text/html; charset=utf-8", css: "text/css", js: "text/javascript", mjs: "text/javascript" };

/** Serves files by name, each with the policy; at an address of its own. */
export async function site(files, policy) {
  const server = createServer((request, response) => {
    // As many servers do, any number of slashes is one.
    const name = new URL(`http://x${request.url}`).pathname.replace(/^\/+/, "");
    const text = files.get(name);
    const headers = { "content-type": types[name.split(".").pop()] ?? "text/plain", "content-security-policy": policy };
    response.writeHead(text === undefined ? 404 : 200, headers).end(text);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

let made = 0;

/** A tag whose taps lead to `target`; `tap()` is the address of the next one, `plain` that of its QR code. */
export async function tagAt(ui, target, variables = { registered: "false", owner: "" }) {
  const api = client(ui);
  made += 1;
  const { id: experience_id } = await api.post("/experiences", { name: `Page ${made}`, kind: "redirect", target_url: target });
  const tag = await api.post("/tags", { name: `Bottle <${made}>`, experience_id, variables, has_qr_code: true });
  const inlay = new Inlay(`04C0FFEE00${(0x1000 + made).toString(16)}`.toUpperCase(), `${made}`.padStart(32, "7"));
  await api.post("/inlays", {
    uid: inlay.uid,
    technology: "ntag424dna",
    mirror: "plain",
    tag_id: tag.id,
    file_key: inlay.key.toString("hex"),
  });
  const plain = `${ui.service}/t/${tag.slug}`;
  return {
    api,
    id: tag.id,
    name: tag.name,
    plain,
    tap: () => plain + inlay.read(),
    variables: async () => (await api.get(`/tags/${tag.id}`)).variables,
  };
}
