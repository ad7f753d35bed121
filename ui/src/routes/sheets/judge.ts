// The verdict on one inlay of a test sheet. What is worse is said first: an
// inlay has one verdict.

import type { Experience, SheetRow, Verification, WholeSheet } from "../../lib/api/types";
import type { Laid } from "../../lib/desktop";
import type { Insertion } from "../../lib/readers.svelte";
import type { Tone } from "../../lib/sound";
import { placeOf } from "../../lib/tapUrl";
import type { Known, Outcome } from "../reader/bench.svelte";

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
  | "counter_gap";

export interface Verdict {
  name: VerdictName;
  /** Why, as a sentence. */
  reason: string;
}

export type Expected = WholeSheet["expected"];

/** What each verdict is called, from a metre away. */
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
};

/** How it looks and sounds. Of another version's verdict nothing is known: it is to be looked at. */
export function toneOf(verdict: string): Exclude<Tone, "again"> {
  if (verdict === "ok") return "good";
  if (verdict === "copied_url") return "alarm";
  return verdict in titles && !["counter_gap", "not_comparable"].includes(verdict) ? "bad" : "warn";
}

/** How many rows are good, are to be looked at, and are not good. */
export function sumOf(rows: SheetRow[]): { good: number; warn: number; bad: number } {
  const sum = { good: 0, warn: 0, bad: 0 };
  for (const { verdict } of rows) {
    const tone = toneOf(verdict);
    sum[tone === "alarm" ? "bad" : tone]++;
  }
  return sum;
}

const verdict = (name: VerdictName, reason: string): Verdict => ({ name, reason: reason.charAt(0).toUpperCase() + reason.slice(1) });

/** A card that left before it was read says nothing of itself: it is laid down again. */
export const mustRepeat = (laid: Insertion) =>
  laid.state === "failed" && ["removed", "reset", "sharing", "reader_gone", "swapped"].includes(laid.kind);

/** The UID by which a chip is known again; a random one is none. */
export const uidOf = (laid: Insertion) =>
  laid.state === "inlay" && !laid.random_uid && [8, 14, 20].includes(laid.uid?.length ?? 0) ? laid.uid : null;

/** What the chip says of itself; null if it has a URL to be judged. */
export function judgeReading(laid: Insertion): Verdict | null {
  if (laid.state === "failed") return verdict("unreadable", laid.text);
  if (laid.message.kind === "protected") return verdict("locked", "Its message is shown only to who has its key.");
  return laid.url === null ? verdict("unreadable", laid.sentence) : null;
}

/** An inlay that the sheet has already, by the UID of its code. A copy takes nobody's place. */
export function judgeRepeat(uid: string | null, rows: SheetRow[]): Verdict | null {
  const before = rows.find((row) => row.uid !== null && row.uid === uid && row.verdict !== "copied_url");
  return before ? verdict("duplicate", `This inlay is number ${before.position} of the sheet.`) : null;
}

/** Whether the URL lies on another chip than the one that made its code. */
export function judgeCopy({ check }: Known): Verdict | null {
  return check?.chip === "copied" ? verdict("copied_url", check.findings[0]?.text ?? "The URL was copied from another chip.") : null;
}

/** Who may write it, compared with what the sheet says. */
export function judgeLock({ lock }: Laid, expected: Expected): Verdict | null {
  const closed: Partial<Record<Laid["lock"], string>> = {
    locked: "It cannot be written any more, and should be open.",
    key: "Only who has its key can write it, and it should be open.",
    partly: "Parts of it are locked, and it should be open.",
    marked: "It is marked read-only, and should be open.",
    unknown: "It does not tell who can write it, and it should be open.",
  };
  const open: Partial<Record<Laid["lock"], string>> = {
    open: "Anyone can write it, and it should be locked.",
    partly: "Only parts of it are locked.",
    marked: "It is marked read-only, which only phones respect: anyone with a tool can write it.",
    unknown: "It does not tell who can write it, and it should be locked.",
  };
  const why = expected.locked === null ? undefined : expected.locked ? open[lock] : closed[lock];
  return why === undefined ? null : verdict(expected.locked ? "not_locked" : "locked", why);
}

/** Where its URL leads, as a whole; null if that is as it should be. `tagUrl` is where it should lead. */
export function judgeTag(laid: Laid, { tag, inlay, check }: Known, expected: Expected, tagUrl: string, experiences: Experience[]): Verdict | null {
  if (!check) return verdict("wrong_url", `It leads to ${laid.url}, which is no tag's URL.`);
  if (!check.at_tag_url) return verdict("wrong_url", `It leads to ${placeOf(laid.url ?? "")}; tags are at ${tagUrl}.`);
  if (check.tag_id === null) return verdict("wrong_tag", "Its URL names no tag of this service.");
  if (inlay !== null && inlay.tag_id !== null && inlay.tag_id !== check.tag_id) {
    return verdict("wrong_tag", "The inlay is bound to another tag than the one its URL names.");
  }
  if (inlay !== null && inlay.technology !== laid.chip) {
    return verdict("wrong_chip", "The service has this inlay as another kind of chip.");
  }
  if (expected.experience_id !== null && tag && tag.experience_id !== expected.experience_id) {
    const name = experiences.find((one) => one.id === tag.experience_id)?.name;
    return verdict("wrong_experience", name ? `It leads to ${name}.` : "Its tag has no experience.");
  }
  return null;
}

/** What its tap came to. `isOwn`: the reads that are missing before its counter were made here. */
export function judgeTap(outcome: Outcome, check: Verification, expected: Expected, isOwn: boolean): Verdict {
  if (expected.tag_verified === true && outcome.verified !== true) {
    const failed = check.steps.find((step) => step.verdict === "failed") ?? check.steps.find((step) => step.verdict !== "ok");
    return verdict("not_verified", failed?.detail ?? "Its code was not accepted.");
  }
  if (expected.tag_verified === false && outcome.verified !== false) {
    return verdict("not_verified", "It should not verify, and it does.");
  }
  if (check.chip === "not_comparable") return verdict("not_comparable", check.findings[0]?.text ?? "");
  const gap = check.steps.find((step) => step.verdict === "gap");
  if (gap && outcome.verified === true) {
    return isOwn ? verdict("ok", `Counter ${check.counter}; the reads before it were made here.`) : verdict("counter_gap", `Counter ${gap.detail}`);
  }
  const counter = check.steps.find((step) => step.name === "counter" && step.verdict === "ok");
  return verdict("ok", counter ? `Counter ${counter.detail}` : (check.steps.at(-1)?.detail ?? ""));
}
