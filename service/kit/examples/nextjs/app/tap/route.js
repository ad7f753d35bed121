// GET /tap?rk=...: your experience redirects here. The key goes into the cookie, and out of the address bar.

import { keep, leadTo } from "../../lib/key.mjs";

export function GET(request) {
  const rk = new URL(request.url).searchParams.get("rk");
  // No key is long, but any text can stand in its place.
  return leadTo("/product", rk && rk.length <= 200 ? { "set-cookie": keep(rk) } : {});
}
