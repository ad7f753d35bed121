// The page behind a tap: is the tap genuine, of which tag, and one update of its variables.
// `tapdesk.min.js` is made from this file by `UPDATE_KIT=1 npx playwright test kit/script` in ui/; types are in tapdesk.d.mts.

/** How long a rolling key is valid after its tap (specification 8), in milliseconds. */
const LIFETIME = 300_000;
/** How long one call goes on with trouble in the network: visitors wait for the page. */
const TIMEOUT = 20_000;

// Where this script was loaded from, if a service serves it. Markup can give another element this name.
const script = globalThis.document?.currentScript;
const served = script && script instanceof HTMLScriptElement && script.src.match(/^(.*)\/kit\/1\/tapdesk\.js([?#]|$)/)?.[1];

// The key stays in memory only: in no storage, and not in the address that people copy.
let key;
/** Time of `performance` at which the key expires at the latest. */
let end = 0;

/** Moves the key from the address bar to memory. Other parameters stay byte for byte. */
function take() {
  if (!globalThis.location?.search) return;
  const rk = new URLSearchParams(location.search).get("rk");
  if (rk === null) return;
  // No key is long, but any text can stand in its place.
  key = base64(rk.slice(0, 999));
  // The page was opened after the tap, so the key lives no longer than this.
  end = performance.now() + LIFETIME;
  const rest = location.search
    .slice(1)
    .split("&")
    .filter((part) => !new URLSearchParams(part).has("rk"))
    .join("&");
  // As a whole URL: a path that begins with // would be another host.
  const url = new URL(location);
  url.search = rest && `?${rest}`;
  history.replaceState(history.state, "", url);
}

/** The form in which a key is sent. Characters that no key has must not throw: visitors can write them. */
const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const wait = (millis) => new Promise((done) => setTimeout(done, millis));

/** Asks until the service answers, and `read` accepts its answer, or the time is over. */
async function ask(url, request, timeout, read) {
  const last = Math.min(performance.now() + timeout, end);
  for (let pause = 250; ; pause = Math.min(2 * pause, 8_000)) {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), Math.min(10_000, Math.max(0, last - performance.now())));
    try {
      const answer = await fetch(url, { ...request, signal: abort.signal, credentials: "omit", referrerPolicy: "no-referrer" });
      const result = read(answer, await answer.json());
      if (result) return result;
    } catch {
      // No connection, or something between that does not speak JSON.
    } finally {
      clearTimeout(timer);
    }
    if (performance.now() + pause >= last) return null;
    await wait(pause);
  }
}

/** Every value as the text that variables have. */
function texts(values) {
  const entries = Object.entries(values ?? {}).map(([name, value]) => {
    if (!["string", "number", "boolean"].includes(typeof value)) throw new TypeError(`tapdesk: the value of ${name} is no text.`);
    return [name, String(value)];
  });
  if (!entries.length) throw new TypeError("tapdesk: update() needs a variable.");
  return Object.fromEntries(entries);
}

function updater(base, rolling_key, timeout) {
  // The service repeats its answer to the same values, so that a second click is no second update.
  const repeat = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return async (values) => {
    const data = texts(values);
    if (!rolling_key) return { ok: false, reason: "expired" };
    let refused;
    const request = {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": repeat },
      body: JSON.stringify({ rolling_key, data }),
    };
    const result = await ask(`${base}/v2/interactions/data`, request, timeout, ({ ok, status, headers }, body) => {
      if (ok && body.success) return { ok: true, reason: "saved" };
      const reason = headers.get("tapdesk-reason");
      if (reason) return { ok: false, reason };
      // The request itself is wrong, such as a value that is too long: to repeat it does not help.
      if ([400, 413, 415].includes(status)) return (refused = new Error(`tapdesk: ${body.message}`));
    });
    if (refused) throw refused;
    return result ?? { ok: false, reason: performance.now() < end ? "unreachable" : "expired" };
  };
}

const nothing = (reason) => ({ verified: null, reason, tag: null, payload: null, expiresAt: null });

function tagOf({ tag_id, name, title, description, url, language_code }) {
  return { id: tag_id, name, title, description, url, languageCode: language_code };
}

/** Exchanges the key for the facts of the tap. */
export async function tap({ service = served, timeout = TIMEOUT } = {}) {
  if (!service) throw new TypeError("tapdesk: name the service, as in tap({ service: 'https://tags.example.com' }).");
  take();
  const base = service.replace(/\/+$/, "");
  const mine = key;
  const update = updater(base, mine, timeout);
  if (!mine) return { ...nothing("none"), update };
  const found = await ask(`${base}/v2/interactions/rk_payload?rk=${encodeURIComponent(mine)}`, {}, timeout, ({ headers }, payload) => {
    if (Array.isArray(payload)) return nothing("expired");
    if (!payload.metadata) return;
    // An address that was opened again has an older key. The service knows how old.
    const left = Number(headers.get("tapdesk-expires-in") ?? NaN) * 1_000;
    if (left >= 0 && mine === key) end = Math.min(end, performance.now() + left);
    const expiresAt = new Date(Date.now() + (end - performance.now()));
    return { verified: payload.tag_verified, reason: "ok", tag: tagOf(payload.metadata), payload, expiresAt };
  });
  return { ...(found ?? nothing(performance.now() < end ? "unreachable" : "expired")), update };
}

/** Hides the page until the check has passed. */
export async function guard({ fail, onpass, onfail, service, timeout } = {}) {
  if (!fail && !onfail) throw new TypeError("tapdesk: guard() needs fail or onfail.");
  const page = document.documentElement;
  const show = () => {
    page.style.removeProperty("display");
    page.hidden = false;
  };
  // Properties of style are allowed where a policy forbids styles in markup.
  page.style.setProperty("display", "none", "important");
  const checked = await tap({ service, timeout });
  if (checked.verified === true) {
    show();
    onpass?.(checked);
  } else {
    if (document.readyState === "loading") await new Promise((done) => addEventListener("DOMContentLoaded", done, { once: true }));
    // Nobody sees the page by a change of its style.
    document.body.replaceChildren();
    if (!fail) show();
    onfail?.(checked);
    if (fail) location.replace(fail);
  }
  return checked;
}

take();
