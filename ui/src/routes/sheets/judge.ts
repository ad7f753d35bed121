// The verdict on one inlay of a test sheet. An inlay has one verdict: the worst
// problem decides.

import type { Experience, SheetRow, Verification, WholeSheet } from "../../lib/api/types";
import type { Result } from "../../lib/reader/ResultRows.svelte";
import type { Reading } from "../../lib/shell/desktop";
import type { Insertion } from "../../lib/reader/readers.svelte";
import type { Tone } from "../../lib/ui/sound";
import { chipName } from "../../lib/inlays/technologies";
import { CARD_UID_DIGITS } from "../../lib/inlays/uid";
import { foundName } from "../../lib/reader/chips";
import { placeOf } from "../../lib/tap/tapUrl";
import type { Known, Outcome } from "../../lib/reader/bench.svelte";

export type VerdictName =
  | "ok"
  | "copied_url"
  | "unreadable"
  | "locked"
  | "not_locked"
  | "duplicate"
  | "wrong_url"
  | "wrong_tag"
  | "wrong_chip"
  | "wrong_experience"
  | "not_verified"
  | "not_comparable"
  | "counter_gap"
  // By a person at a phone.
  | "bad";

export interface Verdict {
  name: VerdictName;
  /** The reason, as a sentence. */
  reason: string;
}

export type Expected = WholeSheet["expected"];

/** The title of each verdict. */
export const titles: Record<VerdictName, string> = {
  ok: "Good",
  copied_url: "Copied URL",
  unreadable: "Unreadable",
  locked: "Locked",
  not_locked: "Not locked",
  duplicate: "Duplicate",
  wrong_url: "Wrong URL",
  wrong_tag: "Wrong tag",
  wrong_chip: "Wrong chip",
  wrong_experience: "Wrong experience",
  not_verified: "Not verified",
  not_comparable: "Not comparable",
  counter_gap: "Counter gap",
  bad: "Bad",
};

/** Its colour and sound. An unknown verdict of another version counts as a warning. */
export function toneOf(verdict: string): Exclude<Tone, "again"> {
  if (verdict === "ok") return "good";
  if (verdict === "copied_url") return "alarm";
  return verdict in titles && !["counter_gap", "not_comparable"].includes(verdict) ? "bad" : "warn";
}

/** The rows of a sheet for its table, newest first; `names` are those of tags, by id. */
export function resultsOf(rows: readonly SheetRow[], names: Record<number, string>): Result[] {
  const several = new Set(rows.map(({ reader }) => reader)).size > 1;
  return [...rows].reverse().map(({ position, verdict, uid, tag_id, counter, reason, at, reader, photo }) => ({
    key: position,
    number: position,
    tone: toneOf(verdict),
    title: titles[verdict as VerdictName] ?? verdict,
    uid,
    tag: tag_id === null ? null : { id: tag_id, name: names[tag_id] ?? `Tag ${tag_id}` },
    counter,
    reason,
    at,
    reader: several ? reader : null,
    ...(photo ? { photo: true } : {}),
  }));
}

/** The numbers of good rows, warnings and bad rows. */
export function sumOf(rows: SheetRow[]): { good: number; warn: number; bad: number } {
  const sum = { good: 0, warn: 0, bad: 0 };
  for (const { verdict } of rows) {
    const tone = toneOf(verdict);
    sum[tone === "alarm" ? "bad" : tone]++;
  }
  return sum;
}

const verdict = (name: VerdictName, reason: string): Verdict => ({ name, reason: reason.charAt(0).toUpperCase() + reason.slice(1) });

/** Whether the read was interrupted, so that it is inconclusive and has to be repeated. */
export const mustRepeat = (reading: Insertion) =>
  reading.state === "failed" && ["removed", "reset", "sharing", "reader_gone", "swapped"].includes(reading.kind);

/** The UID that identifies a chip; null if it is random. */
export const uidOf = (reading: Insertion) =>
  reading.state === "inlay" && !reading.random_uid && CARD_UID_DIGITS.includes(reading.uid?.length ?? 0) ? reading.uid : null;

/** The verdict on only the read; null if the chip has a URL to check. */
export function judgeReading(reading: Insertion): Verdict | null {
  if (reading.state === "failed") return verdict("unreadable", reading.text);
  if (reading.message.kind === "protected") return verdict("locked", "Its message can only be read with its key.");
  return reading.url === null ? verdict("unreadable", reading.sentence) : null;
}

/**
 * Whether the sheet already contains this inlay, by the UID in its code. Copied URLs do not count.
 */
export function judgeRepeat(uid: string | null, rows: SheetRow[]): Verdict | null {
  const before = rows.find((row) => row.uid !== null && row.uid === uid && row.verdict !== "copied_url");
  return before ? verdict("duplicate", `Already tested as inlay ${before.position} of this sheet.`) : null;
}

/** Whether the URL is on another chip than the one that generated its code. */
export function judgeCopy({ check }: Known): Verdict | null {
  return check?.chip === "copied" ? verdict("copied_url", check.findings[0]?.text ?? "The URL was copied from another chip.") : null;
}

/** Whether its write access matches the sheet's expectation. */
export function judgeLock({ lock }: Reading, expected: Expected): Verdict | null {
  const closed: Partial<Record<Reading["lock"], string>> = {
    locked: "It is locked, but should be writable.",
    key: "It can only be written with its key, but should be open.",
    partly: "Parts of it are locked, but it should be open.",
    marked: "It is marked read-only, but should be open.",
    unknown: "Its write access is unknown, but it should be open.",
  };
  const open: Partial<Record<Reading["lock"], string>> = {
    open: "Anyone can write it, but it should be locked.",
    partly: "Only parts of it are locked.",
    marked: "It is marked read-only, which only phones respect: anyone with a tool can write it.",
    unknown: "Its write access is unknown, but it should be locked.",
  };
  const why = expected.locked === null ? undefined : expected.locked ? open[lock] : closed[lock];
  return why === undefined ? null : verdict(expected.locked ? "not_locked" : "locked", why);
}

/**
 * Whether its URL, tag, chip and experience match the expectations; `tagUrl` is the expected tag
 * URL.
 */
export function judgeTag(
  reading: Reading,
  { tag, inlay, check }: Known,
  expected: Expected,
  tagUrl: string,
  experiences: readonly Experience[],
): Verdict | null {
  if (!check) return verdict("wrong_url", `Its URL is no tag URL: ${reading.url}.`);
  if (!check.at_tag_url) return verdict("wrong_url", `Its URL is ${placeOf(reading.url ?? "")}, but tags are at ${tagUrl}.`);
  if (check.tag_id === null) return verdict("wrong_tag", "Its URL names no tag of this service.");
  if (inlay !== null && inlay.tag_id !== null && inlay.tag_id !== check.tag_id) {
    return verdict("wrong_tag", "The inlay is bound to another tag than its URL.");
  }
  if (inlay !== null && inlay.technology !== reading.chip) {
    const found = foundName(reading.chip);
    return verdict("wrong_chip", `This chip: ${found}. The inlay is registered as ${chipName(inlay.technology)}.`);
  }
  if (expected.experience_id !== null && tag && tag.experience_id !== expected.experience_id) {
    const name = experiences.find((one) => one.id === tag.experience_id)?.name;
    return verdict("wrong_experience", name ? `Its experience is ${name}.` : "Its tag has no experience.");
  }
  return null;
}

/**
 * The verdict on its tap. Reads by this application are not a gap, because the service knows them.
 */
export function judgeTap(outcome: Outcome, check: Verification, expected: Expected): Verdict {
  if (expected.tag_verified === true && outcome.verified !== true) {
    const failed = check.steps.find((step) => step.verdict === "failed") ?? check.steps.find((step) => step.verdict !== "ok");
    return verdict("not_verified", failed?.detail ?? "Its code was not accepted.");
  }
  if (expected.tag_verified === false && outcome.verified !== false) {
    return verdict("not_verified", "It should not verify, but it does.");
  }
  if (check.chip === "not_comparable") return verdict("not_comparable", check.findings[0]?.text ?? "");
  const gap = check.steps.find((step) => step.verdict === "gap");
  if (gap && outcome.verified === true) return verdict("counter_gap", `Counter ${gap.detail}`);
  const counter = check.steps.find((step) => step.name === "counter" && step.verdict === "ok");
  return verdict("ok", counter ? `Counter ${counter.detail}` : (check.steps.at(-1)?.detail ?? ""));
}
