// POST /register: the visitor registers the product of the tap.

import { createHash } from "node:crypto";
import { keyOf, leadTo } from "../../lib/key.mjs";
import { tap, update } from "../../lib/tapdesk.mjs";

export async function POST(request) {
  // The cookie is not sent from other sites. This is for browsers that do not know its attribute `SameSite`.
  if (request.headers.get("sec-fetch-site") === "cross-site") return new Response("Forbidden", { status: 403 });
  const form = await request.formData().catch(() => null);
  const owner = String(form?.get("owner") ?? "").trim();
  if (!owner || owner.length > 200) return leadTo("/product?answer=invalid");
  return leadTo(`/product?answer=${await register(keyOf(request), owner)}`);
}

async function register(rk, owner) {
  const service = process.env.TAPDESK_URL;
  // The form is shown after a verified tap only, but anybody can send a request.
  const { verified, reason } = await tap(service, rk);
  if (verified !== true) return reason === "unreachable" ? "unreachable" : "expired";
  // The same for a second click, which therefore gets the first one's answer.
  const attempt = createHash("sha256").update(`${rk}\n${owner}`).digest("hex");
  return (await update(service, rk, { registered: "true", owner }, attempt)).reason;
}
