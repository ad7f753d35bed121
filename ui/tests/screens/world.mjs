// A shop with a history, created through the API: the data of the screens in tests
// and pictures.

import { rmSync } from "node:fs";
import { Inlay } from "./inlay.mjs";
import { serveUi } from "./served.mjs";

const HOUR = 3_600_000;
const things = ["Bottle", "Crate", "Bicycle", "Poster", "Jacket", "Watch", "Guitar", "Lamp"];
const LONG = "A longcase clock from the third shelf of the second room behind the old bakery in Obere Hauptstraße, with its pendulum";

/** Names as people give them, in other languages and scripts. */
const names = {
  38: "Gästebuch „Straßenfest“, Größe XL",
  39: "純米大吟醸 限定醸造 壱号瓶",
  40: LONG,
  42: "قارورة عطر الورد رقم ٤٢",
};

/** What makes chips that carry the service's address. */
const ENCODES = ["/encodings", "/encoding-runs", "/factory-orders"];

/** A client of the service's admin API and of its public routes. */
export function client({ service, token }) {
  const call = async (method, path, body, type = "application/json") => {
    const answer = await fetch(`${service}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": type }) },
      ...(body !== undefined && { body: type.endsWith("json") ? JSON.stringify(body) : body }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  };
  return {
    get: (path) => call("GET", path),
    // The service is reached by this computer only: what it encodes is for trying.
    post: (path, body = {}) => call("POST", path, ENCODES.includes(path) ? { allow_unproved_address: true, ...body } : body),
    put: (path, body) => call("PUT", path, body),
    patch: (path, body) => call("PATCH", path, body, "application/merge-patch+json"),
    remove: (path) => call("DELETE", path),
    putImage: (path, bytes) => call("PUT", path, bytes, "image/png"),
    csv: (path, text) => call("POST", path, text, "text/csv"),
    /** Opens a tag's address as a visitor does; answers the rolling key in Base64. */
    async tap(slug, query = "") {
      const answer = await fetch(`${service}/t/${slug}${query}`, { redirect: "manual" });
      const target = answer.headers.get("location");
      const key = target && new URL(target).searchParams.get("rk");
      return key ? btoa(key) : null;
    },
    /** Opens a page of the service as a visitor does; answers the rolling key of its form, in Base64. */
    async form(slug) {
      const page = await (await fetch(`${service}/t/${slug}`)).text();
      return /name="rolling_key" value="([^"]+)"/.exec(page)[1];
    },
    async payload(rk) {
      await fetch(`${service}/v2/interactions/rk_payload?rk=${encodeURIComponent(rk)}`);
    },
    async update(rk, data) {
      const answer = await fetch(`${service}/v2/interactions/data`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ rolling_key: rk, data }),
      });
      return answer.status;
    },
  };
}

async function experiences(api) {
  const redirect = (name, target_url) => api.post("/experiences", { name, kind: "redirect", target_url });
  const register = await redirect("Register product", "https://shop.example.com/register?sn={{ tag:attribute:sku }}");
  const manual = await redirect("Manual and downloads", 'https://docs.example.com/{{ tag:data:model || "index" }}');
  const authentic = await redirect("Authentic or not", "https://shop.example.com/check?result={{ interaction:verification:result }}");
  await api.post("/experiences", {
    name: "Lost and found",
    kind: "studio",
    draft: true,
    blocks: [
      { type: "heading", text: "{{ tag:title }} was found" },
      { type: "text", text: "Thank you. Leave a word for its owner." },
      { type: "form", fields: [{ label: "Where is it?", kind: "text", variable: "found_at" }], submit_label: "Tell the owner" },
    ],
  });
  return [register, manual, authentic];
}

async function tags(api, [register, manual, authentic]) {
  const made = [];
  for (let number = 1; number <= 48; number++) {
    const thing = things[number % things.length];
    const leads = [register, manual, authentic, null][number % 7 === 0 ? 3 : number % 3];
    made.push(
      await api.post("/tags", {
        name: names[number] ?? `${thing} ${number}`,
        slug: `${thing.toLowerCase()}-${String(number).padStart(3, "0")}`,
        title: number === 40 ? "" : `${thing} No. ${number}`,
        experience_id: leads?.id ?? null,
        status: number % 11 === 0 ? "archived" : "active",
        attributes: { sku: `${thing[0]}-${1000 + number}`, batch: "2026-A" },
        data: { colour: ["red", "green", "black"][number % 3], model: thing.toLowerCase() },
        variables: { registered: "false", owner: "" },
        has_qr_code: thing === "Poster",
      }),
    );
  }
  return made;
}

async function inlays(api, made) {
  const equipped = made.filter((tag) => tag.status === "active" && !tag.has_qr_code).slice(-12);
  return Promise.all(
    equipped.map(async (tag, index) => {
      const inlay = new Inlay(`04DE5F1EACC0${(64 + index).toString(16).toUpperCase()}`, `${index + 1}`.padStart(32, "5"));
      const { uid } = inlay;
      await api.post("/inlays", { uid, technology: "ntag424dna", mirror: "plain", tag_id: tag.id, file_key: inlay.key.toString("hex") });
      return { tag, inlay };
    }),
  );
}

/** A day of taps: mostly in order, some not, the last ones just now. */
async function taps(api, made, equipped) {
  const posters = made.filter((tag) => tag.has_qr_code && tag.status === "active");
  for (let hour = 0; hour < 24; hour++) {
    const busy = Math.round(2 + 5 * Math.sin((hour / 24) * Math.PI) ** 2);
    for (let visit = 0; visit < busy; visit++) {
      const { tag, inlay } = equipped[(hour * 5 + visit * 3) % equipped.length];
      await api.tap(tag.slug, inlay.read());
    }
    await api.tap(posters[hour % posters.length].slug);
    if (hour % 9 === 4) await api.tap(equipped[hour % 12].tag.slug, equipped[hour % 12].inlay.at(1));
    if (hour < 23) await api.post("/clock", { advance_ms: HOUR });
  }
  await api.post("/clock", { advance_ms: HOUR / 2 });
  const [first, second, third] = equipped;
  first.inlay.read();
  first.inlay.read();
  await api.tap(first.tag.slug, first.inlay.read());
  await api.post("/clock", { advance_ms: 60_000 });
  await api.tap(
    second.tag.slug,
    second.inlay.read().replace(/.$/, (last) => (last === "0" ? "1" : "0")),
  );
  const rk = await api.tap(third.tag.slug, third.inlay.read());
  await api.payload(rk);
  await api.update(rk, { registered: "true", owner: "Anna" });
  await api.post("/clock", { advance_ms: 45_000 });
  const last = equipped[3];
  await api.payload(await api.tap(last.tag.slug, last.inlay.read()));
}

/** Inlays that another service encoded, and the forms of their URLs. */
async function brought(api, made) {
  const meta = "A1".repeat(16);
  const bottles = await api.post("/url-templates", {
    name: "Bottles 2024",
    template: "https://tags.example.com/v?picc_data={picc}&enc={enc}&cmac={mac}",
    technology: "ntag424dna",
    mac_from: "enc",
    enc_length: 32,
    meta_keys: [meta],
  });
  await api.post("/url-templates", {
    name: "Stickers of the second label, für die Flaschen der Bäckerei in der Oberen Hauptstraße",
    template: "https://x.example/s/{slug}?m={uid}x{counter}x{mac}",
    technology: "ntag223dna",
  });
  for (let number = 0; number < 8; number++) {
    const uid = `04C0FFEE00${(0x1000 + number).toString(16)}`.toUpperCase();
    const tag_id = number < 3 ? made[20 + number].id : null;
    await api.post("/inlays", {
      uid,
      technology: "ntag424dna",
      url_template_id: bottles.id,
      tag_id,
      meta_key: meta,
      file_key: `${number}7`.padStart(32, "B"),
    });
  }
}

/** Creates the whole history; returns the service's current time, the tags, and the chips of some of them. */
export async function tell(ui) {
  const api = client(ui);
  const made = await tags(api, await experiences(api));
  const equipped = await inlays(api, made);
  await taps(api, made, equipped);
  await brought(api, made);
  await api.post("/tokens", { name: "Shop's web server", scopes: ["admin"] });
  await api.post("/demo");
  const { now } = await api.get("/clock");
  return { api, now: new Date(now), tags: made, equipped };
}

/** The history that this process made, and the folder of the service that has it. */
let past;

async function make() {
  const ui = await serveUi();
  const { now, tags, equipped } = await tell(ui).finally(ui.stop);
  process.once("exit", () => rmSync(ui.folder, { recursive: true, force: true }));
  return { folder: ui.folder, now, tags, equipped };
}

/**
 * A service of its own with the whole history, and what `tell` returns. The history is made once by each process that
 * runs tests, and copied for each service.
 */
export async function serveWorld() {
  const { folder, now, tags, equipped } = await (past ??= make());
  const ui = await serveUi(undefined, undefined, folder);
  const api = client(ui);
  // The clock of a service that starts is the computer's.
  const { now: started } = await api.get("/clock");
  await api.post("/clock", { advance_ms: now - new Date(started) });
  const own = ({ tag, inlay }) => ({ tag: structuredClone(tag), inlay: inlay.copy() });
  return { ui, world: { ui, api, now: new Date(now), tags: structuredClone(tags), equipped: equipped.map(own) } };
}
