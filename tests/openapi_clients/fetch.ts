// The tour of the README, by openapi-fetch over the types that openapi-typescript makes.
// Arguments: the service's URL. The token is in TAPDESK_ADMIN_TOKEN.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./generated/schema.js";

const base = process.argv[2];
const admin = createClient<paths>({
  baseUrl: base,
  headers: { Authorization: `Bearer ${process.env.TAPDESK_ADMIN_TOKEN}` },
});
const visitor = createClient<paths>({ baseUrl: base, redirect: "manual" });

function done<T>({ data, error }: { data?: T; error?: unknown }): T {
  assert.ok(data !== undefined, JSON.stringify(error));
  return data;
}

async function tap(url: string) {
  const { pathname, searchParams } = new URL(url);
  const { response } = await visitor.GET("/t/{slug}", {
    params: {
      path: { slug: pathname.slice("/t/".length) },
      query: {
        uid: searchParams.get("uid") ?? undefined,
        token: searchParams.get("token") ?? undefined,
      },
    },
    parseAs: "text",
  });
  assert.equal(response.status, 302);
  const location = new URL(response.headers.get("location")!);
  return { location, rk: btoa(location.searchParams.get("rk")!) };
}

async function payload(rk: string) {
  const answer = await visitor.GET("/v2/interactions/rk_payload", { params: { query: { rk } } });
  const payload = done(answer);
  assert.ok(!Array.isArray(payload));
  return payload;
}

const experience = done(
  await admin.POST("/admin/v1/experiences", {
    body: {
      name: "Register",
      kind: "redirect",
      target_url: "https://example.com/register?sn={{tag:attribute:sku}}",
    },
  }),
);
assert.ok(experience.kind === "redirect");

const inlay = done(
  await admin.POST("/admin/v1/simulator/inlays", {
    body: {
      tag: { name: "Bottle", experience_id: experience.id, variables: { registered: "false" } },
    },
  }),
);
const { url } = done(
  await admin.POST("/admin/v1/simulator/inlays/{id}/tap", {
    params: { path: { id: inlay.id } },
    body: {},
  }),
);

const { rk } = await tap(url);
assert.equal((await payload(rk)).tag_verified, true);
const body = { rolling_key: rk, data: { registered: "true" } };
const updated = done(await visitor.POST("/v2/interactions/data", { body }));
assert.ok("success" in updated && updated.success);
const again = await visitor.POST("/v2/interactions/data", { body });
assert.equal(again.response.status, 400);

// A copy of the URL gets a key as well, and its payload says what it is.
const copy = await tap(url);
assert.equal((await payload(copy.rk)).tag_verified, false);
const verification = done(await admin.POST("/admin/v1/verification", { body: { url } }));
assert.equal(verification.reason, "replayed");

const tag = done(
  await admin.POST("/admin/v1/tags", {
    body: {
      name: "Bottle 41",
      experience_id: experience.id,
      attributes: { sku: "A-1" },
      variables: { registered: "false" },
    },
  }),
);
const { location } = await tap(`${base}/t/${tag.slug}`);
assert.ok(location.href.startsWith("https://example.com/register?sn=A-1&rk="), location.href);
const changed = done(
  await admin.PATCH("/admin/v1/tags/{id}", {
    params: { path: { id: tag.id } },
    body: { title: "A red one" },
  }),
);
assert.equal(changed.title, "A red one");
const page = done(await admin.GET("/admin/v1/tags", { params: { query: { count: true } } }));
assert.deepEqual(page.items.map((listed) => listed.id), [tag.id]);
console.log("openapi-typescript and openapi-fetch: the tour is done");
