import { expect, test } from "vitest";
import type { Experience, SheetRow, Verification } from "../../lib/api/types";
import type { Reading } from "../../lib/shell/desktop";
import type { Insertion } from "../../lib/reader/readers.svelte";
import type { Known, Outcome } from "../../lib/reader/bench.svelte";
import {
  judgeCopy,
  judgeLock,
  judgeReading,
  judgeRepeat,
  judgeTag,
  judgeTap,
  mustRepeat,
  sumOf,
  titles,
  toneOf,
  uidOf,
  type Expected,
} from "./judge";
import "../../lib/inlays/knownChips";

const tagUrl = "http://127.0.0.1:8787/t";
const expected: Expected = { tag_url: null, experience_id: 7, tag_verified: true, locked: null };
const reading = {
  state: "inlay",
  insertion: 1,
  uid: "04DE5F1EACC040",
  random_uid: false,
  original: "unknown",
  chip: "ntag424dna",
  codes: { kind: "on" },
  lock: "key",
  message: { kind: "records", records: [] },
  url: `${tagUrl}/k3v9qa?uid=00&token=00`,
  sentence: "",
} as unknown as { state: "inlay" } & Reading;

const check = (steps: [string, string, string][], more: object = {}) =>
  ({
    tag_id: 41,
    inlay_id: 3,
    uid: "04DE5F1EACC040",
    at_tag_url: true,
    chip: "same",
    counter: 9,
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
  ({ tag: { id: 41, experience_id: 7 }, inlay: { id: 3, tag_id: 41, technology: "ntag424dna" }, check: good, ...more }) as unknown as Known;
const tapped = (verified: boolean | null) => ({ verified }) as unknown as Outcome;
const tagOf = (more: object, other: Partial<Expected> = {}, experiences: Experience[] = []) =>
  judgeTag(reading, known(more), { ...expected, ...other }, tagUrl, experiences);

test("an inlay as it should be is good", () => {
  expect(judgeReading(reading)).toBe(null);
  expect(judgeRepeat("04DE5F1EACC040", [])).toBe(null);
  expect(judgeCopy(known())).toBe(null);
  expect(judgeLock(reading, expected)).toBe(null);
  expect(tagOf({})).toBe(null);
  expect(judgeTap(tapped(true), good, expected)).toEqual({ name: "ok", reason: "Counter 2 after 1" });
});

test("an inlay of an earlier row is a duplicate, whatever that row says", () => {
  const rows = [{ position: 3, uid: "04DE5F1EACC040", verdict: "not_verified" }] as SheetRow[];
  expect(judgeRepeat("04DE5F1EACC040", rows)).toEqual({ name: "duplicate", reason: "Already tested as inlay 3 of this sheet." });
});

test("a copy that came first does not make the genuine inlay a duplicate", () => {
  const rows = [{ position: 3, uid: "04DE5F1EACC040", verdict: "copied_url" }] as SheetRow[];
  expect(judgeRepeat("04DE5F1EACC040", rows)).toBe(null);
  expect(judgeRepeat(null, [{ position: 1, uid: null, verdict: "unreadable" }] as SheetRow[])).toBe(null);
});

test("a copied URL is reported in the words of the service", () => {
  const copied = { ...good, chip: "copied", findings: [{ kind: "copied_url", text: "The URL was copied." }] } as Verification;
  expect(judgeCopy(known({ check: copied }))).toEqual({ name: "copied_url", reason: "The URL was copied." });
});

test("a random UID is nobody's, and no UID to know an inlay by", () => {
  expect(uidOf(reading)).toBe("04DE5F1EACC040");
  expect(uidOf({ ...reading, uid: "08112233", random_uid: true })).toBe(null);
  expect(uidOf({ ...reading, uid: null })).toBe(null);
});

test("a chip that cannot be compared is neither copied nor good", () => {
  const hidden = {
    ...good,
    chip: "not_comparable",
    findings: [{ kind: "not_comparable", text: "It shows a random UID." }],
  } as Verification;
  expect(judgeCopy(known({ check: hidden }))).toBe(null);
  expect(judgeTap(tapped(true), hidden, expected)).toEqual({ name: "not_comparable", reason: "It shows a random UID." });
  expect(judgeTap(tapped(false), hidden, expected).name).toBe("not_verified");
});

test("unreadable and locked are different verdicts", () => {
  const mute = { state: "failed", kind: "mute", text: "It does not answer." } as unknown as Insertion;
  expect(judgeReading(mute)?.name).toBe("unreadable");
  expect(judgeReading({ ...reading, url: null, message: { kind: "blank" } })?.name).toBe("unreadable");
  expect(judgeReading({ ...reading, url: null, message: { kind: "protected" } })?.name).toBe("locked");
});

test("write access counts if the sheet expects one", () => {
  const names = (locked: boolean) =>
    (["open", "key", "partly", "marked", "locked", "unknown"] as const).map(
      (lock) => judgeLock({ ...reading, lock }, { ...expected, locked })?.name,
    );
  expect(names(false)).toEqual([undefined, "locked", "locked", "locked", "locked", "locked"]);
  expect(names(true)).toEqual(["not_locked", undefined, "not_locked", "not_locked", undefined, "not_locked"]);
});

test("a URL of another host is wrong, whatever tag its last segment names", () => {
  const staging = { ...reading, url: "https://staging.example/t/k3v9qa?uid=00" };
  const otherHost = known({ check: { ...good, at_tag_url: false } });
  expect(judgeTag(staging, otherHost, expected, tagUrl, [])).toEqual({
    name: "wrong_url",
    reason: "Its URL is https://staging.example/t/k3v9qa, but tags are at http://127.0.0.1:8787/t.",
  });
  expect(tagOf({ check: null })?.name).toBe("wrong_url");
});

test("no tag, another tag and another experience are different verdicts", () => {
  expect(tagOf({ check: check([], { tag_id: null }) })?.name).toBe("wrong_tag");
  expect(tagOf({ inlay: { id: 3, tag_id: 9, technology: "ntag424dna" } })?.name).toBe("wrong_tag");
  const other = { tag: { id: 41, experience_id: 8 } };
  const experiences = [{ id: 8, name: "Welcome" }] as Experience[];
  expect(tagOf(other, {}, experiences)).toEqual({ name: "wrong_experience", reason: "Its experience is Welcome." });
  expect(tagOf(other, { experience_id: null })).toBe(null);
});

test("a static inlay bound to one tag with the URL of another is at the wrong tag", () => {
  const still = check([["url", "ok", ""]], { inlay_id: null, uid: null, chip: null, counter: null });
  expect(tagOf({ check: still, inlay: { id: 3, tag_id: 9, technology: "ntag424dna" } })?.name).toBe("wrong_tag");
});

test("a static inlay on another kind of chip than the service has is the wrong chip", () => {
  const still = check([["url", "ok", ""]], { inlay_id: null, uid: null, chip: null, counter: null });
  expect(tagOf({ check: still, inlay: { id: 3, tag_id: 41, technology: "ntag213" } })?.name).toBe("wrong_chip");
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

test("a gap of the counter is reported although the tap is verified", () => {
  const gap = check([["counter", "gap", "9 after 7: one read never reached us"]]);
  expect(judgeTap(tapped(true), gap, expected).name).toBe("counter_gap");
});

test("only a card that left, or was swapped unseen, is read again", () => {
  const failed = (kind: string) => ({ state: "failed", kind }) as unknown as Insertion;
  expect(mustRepeat(failed("removed"))).toBe(true);
  expect(mustRepeat(failed("swapped"))).toBe(true);
  expect(mustRepeat(failed("mute"))).toBe(false);
  expect(mustRepeat(reading)).toBe(false);
});

test("a gap has a tone of its own, and a copied URL the loudest", () => {
  const of = (tone: string) => Object.keys(titles).filter((name) => toneOf(name) === tone);
  expect(of("good")).toEqual(["ok"]);
  expect(of("warn")).toEqual(["not_comparable", "counter_gap"]);
  expect(of("alarm")).toEqual(["copied_url"]);
  expect(toneOf("of_another_version")).toBe("warn");
  const rows = ["ok", "ok", "counter_gap", "copied_url", "locked"].map((verdict) => ({ verdict }) as SheetRow);
  expect(sumOf(rows)).toEqual({ good: 2, warn: 1, bad: 2 });
});
