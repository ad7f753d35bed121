// Security headers of each page. Next.js writes scripts into its pages, and gives them the nonce of this policy.

import { NextResponse } from "next/server";

const isDevelopment = process.env.NODE_ENV !== "production";

export function proxy(request) {
  const nonce = btoa(crypto.randomUUID());
  const policy = [
    "default-src 'none'",
    // React's tools for development use eval.
    `script-src 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ""}`,
    `style-src 'self'${isDevelopment ? " 'unsafe-inline'" : ""}`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  response.headers.set("referrer-policy", "no-referrer");
  response.headers.set("x-content-type-options", "nosniff");
  return response;
}

export const config = { matcher: ["/((?!_next/static|favicon.ico).*)"] };
