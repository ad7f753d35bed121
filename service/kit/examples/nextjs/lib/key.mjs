// The rolling key between the tap and the registration: in a cookie that no script can read, for five minutes.

/** Tag URLs are on another host, so `Strict` would lose the cookie after the redirect. `Lax` keeps other sites from posting. */
const attributes = `Path=/; HttpOnly; SameSite=Lax${process.env.NODE_ENV === "production" ? "; Secure" : ""}`;

export const COOKIE = "tapdesk_key";

export const keep = (rk) => `${COOKIE}=${encodeURIComponent(rk)}; Max-Age=300; ${attributes}`;

/** The key of a request, or null. */
export function keyOf(request) {
  const cookies = (request.headers.get("cookie") ?? "").split("; ");
  const found = cookies.find((cookie) => cookie.startsWith(`${COOKIE}=`));
  try {
    return found ? decodeURIComponent(found.slice(COOKIE.length + 1)) : null;
  } catch {
    // The visitor changed it.
    return null;
  }
}

/** An answer that leads to another page, and that nobody keeps. The address is relative: proxies may have changed the host. */
export const leadTo = (location, headers = {}) =>
  new Response(null, { status: 303, headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer", ...headers } });
