// A stand-in for the desktop, so that a browser can show its screens: it answers the kiosk's commands
// with data, notes the PINs that were tried, and has readers that inlays are placed on.

import { readFile } from "node:fs/promises";

const chosen = {
  display: "A display that is gone",
  heading: "Place your tag here",
  text: "Put it on the reader to see its story.",
  name: "Winery Lindenhof",
  colour: "#5c1030",
  idle_seconds: 60,
  picture_seconds: 8,
  hosts: [],
  group_id: null,
  code: null,
  languages: [],
  keyboard: true,
  leaves_to: "quit",
  sound: false,
  light: false,
  autostart: false,
};
const kiosk = {
  kiosk_attract: { ...chosen, logo: null, pictures: [] },
  kiosk_unlock: { outcome: "wrong" },
  kiosk_settings: {
    chosen,
    has_pin: true,
    pictures: [{ name: "gone.png", url: null }],
    logo: null,
    last_visit_at: "2026-11-02T09:00:00Z",
    missing_fonts: [{ language: "ja", package: "fonts-noto-cjk" }],
    folder: "/var/lib/tapdesk-kiosk",
    autostart_for_all: false,
    displays: ["HDMI-1 (1920 × 1080)"],
    today: { visits: 41, done: 30, other_host: 2, other_group: 0, copied: 0, unread: 3, failed: 0 },
    why_not: null,
  },
};

/** Lets the desktop refuse a form, with these errors at its fields. */
export const refuseForm = (page, command, detail, errors) =>
  page.evaluate(([command, refused]) => (globalThis.host.refused[command] = refused), [command, { detail, errors }]);

/** Lets every document of `page` from now on find a desktop around it: its answers to commands, its readers, and the service it is connected to. */
export const desktopHost = (page, given) =>
  page.addInitScript(({ answers, view = {}, readers = [], remote = null, phones = true, lan = ["http://192.0.2.7:8787"] }) => {
    const callbacks = [];
    const host = {
      tried: [],
      done: [],
      beats: 0,
      forgotten: 0,
      spoken: [],
      chosen: [],
      scaled: [],
      ports: [],
      encoded: [],
      closed: false,
      answers,
      started: [],
      refused: {},
      show: () => undefined,
      place: () => undefined,
      stands: () => undefined,
      connect: () => undefined,
      become: () => undefined,
      rotate: () => undefined,
    };
    const here = { id: "embedded", name: "This computer", kind: "embedded", url: location.origin };
    const ready = {
      phase: "ready",
      version: "0.0.0",
      connection: remote ?? here,
      connections: remote ? [here, remote] : [here],
      address: location.origin,
      tag_url: `${location.origin}/t`,
      phones,
      lan: phones ? lan : [],
      listen_fixed: false,
      port_fixed: null,
      key_store: { kind: "keychain", text: "The key that wraps your inlays' keys is in the system's keychain." },
      database: "",
      releases: { source: null, looked_at: null, found: null, problem: null },
    };
    async function invoke(command, { channel, pin, url, target, discard, allowed, percent, port, quiet, chosen, language, visit } = {}) {
      if (command === "shell_state") return ready;
      if (host.refused[command]) throw host.refused[command];
      let told = 0;
      const tell = (message) => callbacks[channel.id]({ index: told++, message });
      if (command === "kiosk_watch") {
        host.show = tell;
        // As in the desktop, the page is there before the answer is.
        await null;
        host.show(view);
      }
      if (command === "watch_shell") {
        host.stands = tell;
        host.connect = (connection) => tell({ ...ready, connection });
        host.become = (changes) => tell({ ...ready, ...changes });
      }
      // It goes on until the test says that it is done.
      if (command === "rotate_key") return new Promise((done) => (host.rotate = (progress) => (progress ? tell(progress) : done())));
      if (command === "bucket_backups" && host.listing) return new Promise((done) => (host.listing.done = done));
      // It goes on until the test says how it ended, or the page stops it.
      if (command === "restore_from_bucket" && host.download) return new Promise((done) => Object.assign(host.download, { tell, done }));
      if (command === "stop_download") host.download?.done(null);
      if (command === "forget_backup") host.forgotten += 1;
      if (command === "watch_readers") {
        host.place = (readers) => tell({ fault: null, readers });
        host.place(readers);
      }
      // The page's clock may stand.
      if (command === "send_tap") return { ...(await globalThis.sendTapInstead(url)), at: new Date().toISOString() };
      if (command === "kiosk_unlock") host.tried.push(pin);
      if (command === "kiosk_done") host.done.push(visit);
      if (command === "kiosk_alive") host.beats += 1;
      if (command === "kiosk_language") host.spoken.push(language);
      if (command === "kiosk_choose") host.chosen.push(chosen);
      if (command === "encode") {
        host.encoded.push(target);
        if (globalThis.encodeInstead) return globalThis.encodeInstead(target);
      }
      if (command === "allow_phones") {
        Object.assign(ready, { phones: allowed, lan: allowed ? lan : [] });
        host.become({});
      }
      if (["restart_service", "fix_port", "keep_port"].includes(command)) host.ports.push([command, port ?? null]);
      if (command === "set_quiet_readers") host.quiet = quiet;
      if (command === "set_scale") host.scaled.push(percent);
      if (command === "kiosk_close") host.closed = true;
      if (command === "kiosk_start") host.started.push({ discard });
      return answers[command];
    }
    globalThis.isTauri = true;
    globalThis.host = host;
    globalThis.__TAURI_INTERNALS__ = {
      invoke,
      convertFileSrc: (connection) => `${location.origin}/${connection}`,
      transformCallback: (callback) => callbacks.push(callback) - 1,
      unregisterCallback: () => undefined,
    };
  }, given);

/** The state of a kiosk that waits for a visitor, as its page has it. */
export const atRest = JSON.parse(await readFile(new URL("../../src/kiosk/rest.json", import.meta.url), "utf8"));
/** `settings` replace choices in the owner's sheet, and `attract` those of the kiosk's page. */
export const kioskHost = (page, view = {}, settings = {}, attract = {}) =>
  desktopHost(page, {
    answers: {
      ...kiosk,
      kiosk_settings: { ...kiosk.kiosk_settings, ...settings },
      kiosk_attract: { ...kiosk.kiosk_attract, ...attract },
    },
    view: { ...atRest, ...view },
  });

/** The same on a system that has no kiosk. */
export const noKioskHost = (page, why_not) => kioskHost(page, {}, { why_not });

/**
 * Lets every document of `page` from now on find a desktop with a reader, which `place` places inlays on. `lan` are the
 * addresses of the computer, and `phones` says whether it listens there.
 */
export async function readerHost(page, { service }, answers = {}, remote = null, network = {}) {
  const place = (on) => [{ name: "ACS ACR1252 1S CL Reader", on }];
  await page.exposeFunction("sendTapInstead", (url) => sent(service, url));
  await desktopHost(page, { answers: { reader_doctor: [], ...answers }, readers: place({ state: "nothing" }), remote, ...network });
  let insertion = 0;
  return {
    /** Places an inlay with this URL on the reader. */
    place: (uid, url) => page.evaluate((readers) => globalThis.host.place(readers), place(reading({ insertion: ++insertion, uid, url }))),
    remove: () => page.evaluate((readers) => globalThis.host.place(readers), place({ state: "nothing" })),
  };
}

/** An NTAG 424 DNA on the reader, as the shell reads it. */
const reading = ({ insertion, uid, url }) => ({
  state: "inlay",
  insertion,
  at: new Date().toISOString(),
  uid,
  atr: "3B8180018080",
  random_uid: false,
  chip: "ntag424dna",
  memory: 256,
  original: "yes",
  lock: url ? "key" : "open",
  codes: url
    ? { kind: "on", mirror: "plain", mac_from: "none", meta_key: null, file_key: 2, canonical: true, problem: null }
    : { kind: "off" },
  message: url ? { kind: "records", records: [{ kind: "uri", uri: url }] } : { kind: "blank" },
  url,
  sentence: url ? "An NTAG 424 DNA with a one-time URL." : "A blank NTAG 424 DNA.",
  log: [
    { asked: "Ask the reader for the UID", command: "FFCA000000", answer: `${uid}9000`, said: "done", micros: 4_120 },
    { asked: "Select the NDEF application", command: "00A4040007D276000085010100", answer: "9000", said: "done", micros: 9_870 },
    { asked: "Read the message", command: "00B0000000", answer: "0051D1014D5504…9000", said: "done", micros: 21_400 },
  ],
});

/** Sends a tap as the shell does, and asks for its payload. */
async function sent(service, url) {
  const began = performance.now();
  const answer = await fetch(url, { redirect: "manual" });
  const tap_micros = Math.round((performance.now() - began) * 1000);
  const location = answer.headers.get("location");
  const rk = location && new URL(location).searchParams.get("rk");
  const payload = rk && (await fetch(`${service}/v2/interactions/rk_payload?rk=${encodeURIComponent(btoa(rk))}`));
  return {
    status: answer.status,
    location,
    rk,
    rk_base64: rk && btoa(rk),
    payload: payload?.ok ? await payload.json() : null,
    tap_micros,
    payload_micros: null,
  };
}
