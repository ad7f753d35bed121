import { expect, test } from "vitest";
import type { Experience, SheetRow, Verification } from "../../lib/api/types";
import type { Laid } from "../../lib/desktop";
import type { Insertion } from "../../lib/readers.svelte";
import type { Known, Outcome } from "../reader/bench.svelte";
import { judgeReading, judgeTag, judgeTap, mustRepeat, type Expected } from "./judge";

const expected: Expected = { experience_id: 7, tag_verified: true, locked: null };
const laid = {
  state: "inlay",
  insertion: 1,
  uid: "04DE5F1EACC040",
  lock: "key",
  message: { kind: "records", records: [] },
  url: "http://127.0.0.1:8787/t/k3v9qa",
  sentence: "",
} as unknown as { state: "inlay" } & Laid;

const check = (steps: [string, string, string][], more: object = {}) =>
  ({
    tag_id: 41,
    inlay_id: 3,
    findings: [],
    steps: steps.map(([name, verdict, detail]) => ({ name, verdict, detail })),
    ...more,
  }) as unknown as Verification;
const good = check([
  ["url", "ok", ""],
  ["mac", "ok", ""],
  ["counter", "ok", "2 after 1"],
]);
const known = (more: object = {}) =>
  ({ tag: { id: 41, experience_id: 7 }, inlay: { id: 3, tag_id: 41 }, check: good, ...more }) as unknown as Known;
const tapped = (verified: boolean | null) => ({ verified }) as unknown as Outcome;

test("an inlay as it should be is good", () => {
  expect(judgeReading(laid, expected, [])).toBe(null);
  expect(judgeTag(known(), expected, [])).toBe(null);
  expect(judgeTap(tapped(true), good, expected)).toEqual({ name: "ok", reason: "Counter 2 after 1" });
});

test("an inlay of an earlier row is a duplicate, whatever that row says", () => {
  const rows = [{ position: 3, uid: "04DE5F1EACC040", verdict: "not_verified" }] as SheetRow[];
  expect(judgeReading(laid, expected, rows)).toEqual({ name: "duplicate", reason: "This inlay is number 3 of the sheet." });
});

test("unreadable and locked are told apart", () => {
  const mute = { state: "failed", kind: "mute", text: "It does not answer." } as unknown as Insertion;
  expect(judgeReading(mute, expected, [])?.name).toBe("unreadable");
  expect(judgeReading({ ...laid, url: null, message: { kind: "blank" } }, expected, [])?.name).toBe("unreadable");
  expect(judgeReading({ ...laid, url: null, message: { kind: "protected" } }, expected, [])?.name).toBe("locked");
});

test("whether it can be written counts where the sheet says so", () => {
  const open = { ...laid, lock: "open" as const };
  expect(judgeReading(laid, { ...expected, locked: false }, [])?.name).toBe("locked");
  expect(judgeReading(open, { ...expected, locked: false }, [])).toBe(null);
  expect(judgeReading(open, { ...expected, locked: true }, [])?.name).toBe("not_locked");
  expect(judgeReading(laid, { ...expected, locked: true }, [])).toBe(null);
});

test("no tag, another tag and another experience are told apart", () => {
  expect(judgeTag(known({ check: check([], { tag_id: null }) }), expected, [])?.name).toBe("wrong_tag");
  expect(judgeTag(known({ inlay: { id: 3, tag_id: 9 } }), expected, [])?.name).toBe("wrong_tag");
  const elsewhere = known({ tag: { id: 41, experience_id: 8 } });
  const experiences = [{ id: 8, name: "Welcome" }] as Experience[];
  expect(judgeTag(elsewhere, expected, experiences)).toEqual({ name: "wrong_experience", reason: "It leads to Welcome." });
  expect(judgeTag(elsewhere, { ...expected, experience_id: null }, [])).toBe(null);
});

test("a tap that is not verified says which step failed", () => {
  const wrong = check([
    ["url", "ok", ""],
    ["mac", "failed", "not authentic"],
    ["counter", "not_checked", ""],
  ]);
  expect(judgeTap(tapped(false), wrong, expected)).toEqual({ name: "not_verified", reason: "Not authentic" });
  expect(judgeTap(tapped(false), wrong, { ...expected, tag_verified: null }).name).toBe("ok");
});

test("a gap of the counter is told although the tap is verified", () => {
  const gap = check([["counter", "gap", "9 after 7: one read never reached us"]]);
  expect(judgeTap(tapped(true), gap, expected).name).toBe("counter_gap");
});

test("only a card that left is laid down again", () => {
  const failed = (kind: string) => ({ state: "failed", kind }) as unknown as Insertion;
  expect(mustRepeat(failed("removed"))).toBe(true);
  expect(mustRepeat(failed("mute"))).toBe(false);
  expect(mustRepeat(laid)).toBe(false);
});
