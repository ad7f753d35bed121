// The page behind a tap, on your server (Node 20 or newer, no dependency): trade a rolling key, update
// variables with it, verify webhooks.

import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

/** How often a call is tried, since a visitor waits for the page. */
const ATTEMPTS = 3;
/** How old a webhook may be, in seconds: Standard Webhooks 1.0. */
const TOLERANCE = 300;

/**
 * The facts of the tap that opened your page with the parameter `rk`. `verified` is true, false, or null for
 * "not checked", which never means "fake". The key can be traded again until it expires.
 */
export async function tap(service, rk) {
  if (!rk) return nothing("none");
  const url = `${base(service)}/v2/interactions/rk_payload?rk=${encodeURIComponent(base64(rk))}`;
  const found = await ask(url, {}, ({ headers }, payload) => {
    if (Array.isArray(payload)) return nothing("expired");
    if (!payload.metadata) return undefined;
    const { tag_id: id, name, title, description, url, language_code: languageCode } = payload.metadata;
    const seconds = Number(headers.get("tapdesk-expires-in"));
    return {
      verified: payload.tag_verified,
      reason: "ok",
      tag: { id, name, title, description, url, languageCode },
      payload,
      expiresAt: new Date(Date.now() + seconds * 1000),
    };
  });
  return found ?? nothing("unreachable");
}

/**
 * Sets variables of the tag, all or none, once for each key. A request that the service does not understand, such as a
 * value over 4 KiB, throws. The same values with the same `idempotencyKey` are saved once: give your own one to make a
 * second click harmless.
 */
export async function update(service, rk, values, idempotencyKey = randomUUID()) {
  if (!rk) return { ok: false, reason: "expired" };
  const request = {
    method: "POST",
    // The service answers a repeated request again, instead of refusing a used key.
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify({ rolling_key: base64(rk), data: values }),
  };
  const answer = await ask(`${base(service)}/v2/interactions/data`, request, ({ status, headers }, body) => {
    const refused = headers.get("tapdesk-reason");
    if (body.success) return { ok: true, reason: "saved" };
    if (refused) return { ok: false, reason: refused };
    return [400, 413, 415].includes(status) ? { error: body.message } : undefined;
  });
  if (answer?.error) throw new Error(`tapdesk: ${answer.error}`);
  return answer ?? { ok: false, reason: "unreachable" };
}

/**
 * The event of a webhook. `headers` are those of the request, `body` its bytes as they arrived. Throws if the
 * endpoint's `secret` did not sign it, or it is older than five minutes.
 */
export function verifyWebhook(secret, headers, body) {
  const header = (name) => String((headers.get ? headers.get(name) : headers[name]) ?? "");
  const [id, sent] = [header("webhook-id"), header("webhook-timestamp")];
  if (!/^\d+$/.test(sent) || Math.abs(Date.now() / 1000 - Number(sent)) > TOLERANCE) {
    throw new Error("tapdesk: the webhook is too old, or its time is missing.");
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  // Anyone could sign with it.
  if (!key.length) throw new Error("tapdesk: the secret of the webhook is missing.");
  const expected = createHmac("sha256", key).update(`${id}.${sent}.`).update(body).digest();
  // Several while a secret is being replaced.
  const signed = header("webhook-signature").split(" ").some((signature) => {
    const [version, text = ""] = signature.split(",");
    const given = Buffer.from(text, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!signed) throw new Error("tapdesk: the signature of the webhook is wrong.");
  return JSON.parse(Buffer.from(body).toString("utf8"));
}

/** People copy addresses with a slash at the end. */
const base = (service) => service.replace(/\/+$/, "");

const base64 = (rk) => Buffer.from(String(rk)).toString("base64");

const nothing = (reason) => ({ verified: null, reason, tag: null, payload: null, expiresAt: null });

/** Calls the service until it answers with something that `read` accepts; null after the last attempt. */
async function ask(url, request, read) {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(5_000) });
      const result = read(answer, await answer.json());
      if (result) return result;
    } catch {
      // No connection, or something between that does not speak JSON.
    }
    if (attempt === ATTEMPTS) return null;
    await wait(attempt * 250);
  }
}
