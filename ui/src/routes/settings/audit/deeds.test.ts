import { expect, test } from "vitest";
import openapi from "../../../../../service/openapi.json";
import type { AuditRow } from "../../../lib/api/types";
import { changedMembers, nameOf, objectOf, sentence, sentenceOfMany } from "./deeds";
import { grouped } from "./grouped";

const row = (id: number, action: string, object: string, more: Partial<AuditRow> = {}): AuditRow => ({
  id,
  at: "2026-11-22T12:00:00.000Z",
  actor: { kind: "desktop", id: null, name: null },
  action,
  object,
  before: null,
  after: null,
  address: "in this window",
  hash: "00",
  ...more,
});

test("a row is a sentence about what it was done to", () => {
  expect(sentence(row(1, "tags.create", "tags/41"))).toBe("Created tag");
  expect(sentence(row(1, "tags.variables.set", "tags/41/variables/owner"))).toBe("Set variable");
  expect(sentence(row(1, "tags.bulk", "tags/bulk"))).toBe("Changed many tags");
  expect(sentence(row(1, "backup", "backup"))).toBe("Made a backup");
  // An unknown action of a newer service is shown by its own name.
  expect(sentence(row(1, "moon-phases.create", "moon-phases/1"))).toBe("Created moon phases");
  expect(sentence(row(1, "moon-phases.shift", "moon-phases"))).toBe("Called moon phases shift");
});

/** Operations that only return answers, or note reads and taps: they leave no row. */
const asking =
  /^(verification|own-reads|test-taps|encodings\.preview|labels\.preview|experiences\.(preview|missing-variables)|tags\.import\.table|url-templates\.solve)$/;

/** The audit log's names of the service's operations, from `action` in its `routes.rs`. */
const actions = Object.entries(openapi.paths as Record<string, Record<string, { responses?: object }>>).flatMap(([path, item]) => {
  const within = path.replace("/admin/v1/", "");
  if (within === path) return [];
  const words = within.split("/").filter((word) => !word.startsWith("{"));
  const ends: Record<string, string> = { patch: "update", put: "set", delete: "delete" };
  return Object.entries(item).flatMap(([method, { responses = {} }]) => {
    if (ends[method]) return [[...words, ends[method]].join(".")];
    if (method === "post") return [[...words, ...("201" in responses && words.at(-1) !== "import" ? ["create"] : [])].join(".")];
    return method === "get" && words.at(-1) === "export" ? [words.join(".")] : [];
  });
});

test("every change that the service can log has words", () => {
  expect(actions.length).toBeGreaterThan(50);
  const blank = actions.filter((action) => !asking.test(action) && /^Called|^\W|undefined/.test(sentence({ action, object: "x" })));
  expect(blank).toEqual([]);
});

test("an export of one thing names it, an export of all names them", () => {
  expect(sentence(row(1, "sheets.export", "sheets/12/export"))).toBe("Exported test sheet");
  expect(objectOf({ object: "sheets/12/export" })).toBe("sheets/12");
  expect(sentence(row(1, "interactions.export", "interactions/export"))).toBe("Exported interactions");
  expect(objectOf({ object: "interactions/export" })).toBeNull();
  expect(objectOf({ object: "tags/41/variables/owner" })).toBe("tags/41");
});

test("a name is the newer one, and an inlay is named by its UID", () => {
  expect(nameOf({ before: { name: "Old" }, after: { name: "New" } })).toBe("New");
  expect(nameOf({ before: { name: "Gone" }, after: null })).toBe("Gone");
  expect(nameOf({ before: null, after: { uid: "04DE5F1EACC040" } })).toBe("04DE5F1EACC040");
  expect(nameOf({ before: null, after: ["name"] })).toBeNull();
});

test("a change names its members once", () => {
  expect(changedMembers(row(1, "tags.update", "tags/41", { before: { name: "a" }, after: { name: "b", ndef_prefix: "c" } }))).toEqual([
    "name",
    "ndef prefix",
  ]);
  expect(changedMembers(row(1, "tags.create", "tags/41", { after: { name: "b" } }))).toEqual([]);
});

test("three rows of a kind are one line, which opens, and what stands between them is not hidden", () => {
  const rows = [
    row(9, "tags.create", "tags/5"),
    row(8, "tags.create", "tags/4"),
    row(7, "tags.create", "tags/3"),
    row(6, "tokens.delete", "tokens/1"),
    row(5, "tags.create", "tags/2"),
    row(4, "tags.create", "tags/1"),
  ];
  const ids = (open: number[]) => grouped(rows, new Set(open)).map(({ id, within }) => (within ? `  ${id}` : String(id)));
  expect(ids([])).toEqual(["-9", "6", "5", "4"]);
  expect(ids([-9])).toEqual(["-9", "  9", "  8", "  7", "6", "5", "4"]);
  expect(sentenceOfMany(rows.slice(0, 3))).toBe("Created 3 tags");
});

test("another actor's rows are not summed up with ours", () => {
  const shop = { kind: "token", id: 3, name: "Shop" };
  const rows = [row(3, "tags.create", "tags/3"), row(2, "tags.create", "tags/2", { actor: shop }), row(1, "tags.create", "tags/1")];
  expect(grouped(rows, new Set()).map(({ id }) => id)).toEqual([3, 2, 1]);
});

test("changes of one thing are counted", () => {
  const rows = [1, 2, 3].map((id) => row(id, "settings.update", "settings"));
  expect(sentenceOfMany(rows)).toBe("Changed settings, 3 times");
});
