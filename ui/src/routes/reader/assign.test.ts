import { beforeEach, expect, test, vi } from "vitest";
import type { Inlay } from "../../lib/api/types";
import type { Reading } from "../../lib/shell/desktop";
import { codesOfChip } from "../../lib/inlays/inlayCodes";
import { assignable, bind, hasUid, register } from "./assign";
import "../../lib/inlays/knownChips";

/** The requests to the service, in order. */
const asked: [string, string, unknown, string?][] = [];
const refuses = vi.hoisted(() => ({ path: "" }));
const stored = vi.hoisted(() => ({ tag_id: null as number | null }));

vi.mock("../../lib/api/client", () => {
  const getVersion = () => Promise.resolve({ value: { tag_id: stored.tag_id }, etag: '"1"' });
  const call = (method: string) => (template: string, body: unknown, parameters?: { id: number }, etag?: string) => {
    const path = template.replace("{id}", String(parameters?.id));
    asked.push(etag ? [method, path, body, etag] : [method, path, body]);
    if (path === refuses.path) return Promise.reject(new Error("refused"));
    return Promise.resolve({ id: path === "/tags" ? 41 : 3, uid: "04DE5F1EACC040" });
  };
  return { get: () => new Promise(() => undefined), post: call("POST"), getVersion, patchVersion: call("PATCH") };
});

const reading = (more: object = {}) =>
  ({
    uid: "04DE5F1EACC040",
    random_uid: false,
    original: "unknown",
    chip: "ntag424dna",
    codes: { kind: "off" },
    url: "https://tags.example/t/bottle-41",
    ...more,
  }) as unknown as Reading;
const inlay = { id: 3, uid: "04DE5F1EACC040" } as Inlay;

beforeEach(() => {
  asked.length = 0;
  refuses.path = "";
  stored.tag_id = null;
});

test("a 424 that is blank or static is stored without a mirror, and needs no keys", async () => {
  for (const url of [null, "https://tags.example/t/bottle-41", "https://brand.example/v?picc_data=00&cmac=00"]) {
    await register(reading({ url }), "04DE5F1EACC040", codesOfChip({ kind: "off" }));
  }
  expect(asked.map(([, , body]) => body)).toEqual(Array(3).fill({ uid: "04DE5F1EACC040", technology: "ntag424dna", mirror: null }));
});

test("an inlay that is refused leaves no tag behind", async () => {
  refuses.path = "/inlays";
  await expect(register(reading(), "04DE5F1EACC040", codesOfChip({ kind: "off" }))).rejects.toThrow("refused");
  expect(asked.map(([, path]) => path)).toEqual(["/inlays"]);
});

test("a new tag has the slug in the inlay's URL, and the inlay is bound to it", async () => {
  await bind(inlay, reading(), null);
  expect(asked).toEqual([
    ["POST", "/tags", { name: "Tag bottle-41", slug: "bottle-41" }],
    ["PATCH", "/inlays/3", { tag_id: 41 }, '"1"'],
  ]);
});

test("a known inlay without a tag is bound to the one that is chosen", async () => {
  await bind(inlay, reading(), 7);
  expect(asked).toEqual([["PATCH", "/inlays/3", { tag_id: 7 }, '"1"']]);
});

test("an inlay that somebody else bound meanwhile keeps its tag, and no tag is made", async () => {
  stored.tag_id = 9;
  await expect(bind(inlay, reading(), null)).rejects.toThrow("already has a tag");
  expect(asked).toEqual([]);
});

test("a 424 with a random UID can be assigned, by the UID that a person enters", async () => {
  const random = reading({ uid: "08112233", random_uid: true });
  expect(assignable(random)).toBe(true);
  expect(hasUid(random)).toBe(false);
  await register(random, "04:DE:5F 1E AC C0 40", codesOfChip({ kind: "off" }));
  expect(asked[0]?.[2]).toMatchObject({ uid: "04DE5F1EACC040" });
  expect(assignable(reading({ chip: "inconsistent" }))).toBe(false);
});

test("a TagTamper is stored as one, with its codes, so that a template with its loop can be used", async () => {
  const codes = { ...codesOfChip({ kind: "off" }), mirror: "plain" as const };
  await register(reading({ chip: "ntag424dna_tt" }), "04DE5F1EACC040", codes);
  expect(asked[0]?.[2]).toMatchObject({ technology: "ntag424dna_tt", mirror: "plain" });
});

test("chips that readers tell from others can be assigned, and those with keys of their own on their tag's page", () => {
  for (const chip of ["ntag424dna_tt", "ntag210", "ntag212", "ntag213", "ntag213tt", "ntag215", "ntag216", "ultralight"]) {
    expect(assignable(reading({ chip })), chip).toBe(true);
  }
  for (const chip of ["ntag223dna", "ntag224dna", "other_type2", "other_type4", "unknown"]) {
    expect(assignable(reading({ chip })), chip).toBe(false);
  }
});
