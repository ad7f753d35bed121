// The tour of the README, by the class that swagger-typescript-api makes.
// Arguments: the service's URL. The token is in TAPDESK_ADMIN_TOKEN.
import assert from "node:assert/strict";
import { Api, type HttpResponse } from "./generated/Api.js";

const base = process.argv[2];
const authorization = { Authorization: `Bearer ${process.env.TAPDESK_ADMIN_TOKEN}` };
const { admin } = new Api({ baseUrl: base, baseApiParams: { headers: authorization } });
const visitor = new Api({ baseUrl: base, baseApiParams: { redirect: "manual" } });

async function tap(url: string) {
  const { pathname, searchParams } = new URL(url);
  const query = {
    uid: searchParams.get("uid") ?? undefined,
    token: searchParams.get("token") ?? undefined,
  };
  // The class throws the answer to a redirect that it does not follow.
  const answer: HttpResponse<unknown> = await visitor.t
    .getTSlug(pathname.slice("/t/".length), query)
    .catch((answer) => answer);
  assert.equal(answer.status, 302);
  const location = new URL(answer.headers.get("location")!);
  return { location, rk: btoa(location.searchParams.get("rk")!) };
}

async function payload(rk: string) {
  const { data } = await visitor.v2.getV2InteractionsRkPayload({ rk });
  assert.ok(!Array.isArray(data));
  return data;
}

const { data: experience } = await admin.postExperiences({
  name: "Register",
  kind: "redirect",
  target_url: "https://example.com/register?sn={{tag:attribute:sku}}",
});
assert.ok(experience.kind === "redirect");

const { data: inlay } = await admin.postSimulatorInlays({
  tag: { name: "Bottle", experience_id: experience.id, variables: { registered: "false" } },
});
const { data: tapped } = await admin.postSimulatorInlaysIdTap(inlay.id, {});

const { rk } = await tap(tapped.url);
assert.equal((await payload(rk)).tag_verified, true);
const record = { rolling_key: rk, data: { registered: "true" } };
const { data: updated } = await visitor.v2.postV2InteractionsData(record);
assert.ok("success" in updated && updated.success);
const again = await visitor.v2.postV2InteractionsData(record).catch((answer) => answer);
assert.equal(again.status, 400);

// A copy of the URL gets a key as well, and its payload says what it is.
const copy = await tap(tapped.url);
assert.equal((await payload(copy.rk)).tag_verified, false);
const { data: verification } = await admin.postVerification({ url: tapped.url });
assert.equal(verification.reason, "replayed");

const { data: tag } = await admin.postTags({
  name: "Bottle 41",
  experience_id: experience.id,
  attributes: { sku: "A-1" },
  variables: { registered: "false" },
});
const { location } = await tap(`${base}/t/${tag.slug}`);
assert.ok(location.href.startsWith("https://example.com/register?sn=A-1&rk="), location.href);
const { data: changed } = await admin.patchTagsId(tag.id, { title: "A red one" });
assert.equal(changed.title, "A red one");
const { data: page } = await admin.getTags({ count: true });
assert.deepEqual(page.items.map((listed) => listed.id), [tag.id]);
console.log("swagger-typescript-api: the tour is done");
