// The verdict on one inlay of a test sheet. What is worse is said first: an
// inlay has one verdict.

import type { Experience, SheetRow, Verification, WholeSheet } from "../../lib/api/types";
import type { Insertion } from "../../lib/readers.svelte";
import type { Known, Outcome } from "../reader/bench.svelte";

export type VerdictName =
  | "ok"
  | "unreadable"
  | "locked"
  | "not_locked"
  | "duplicate"
  | "wrong_tag"
  | "wrong_experience"
  | "not_verified"
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
  unreadable: "Unreadable",
  locked: "Locked",
  not_locked: "Not locked",
  duplicate: "Duplicate",
  wrong_tag: "Wrong tag",
  wrong_experience: "Wrong experience",
  not_verified: "Not verified",
  counter_gap: "Counter gap",
};

const verdict = (name: VerdictName, reason: string): Verdict => ({ name, reason: reason.charAt(0).toUpperCase() + reason.slice(1) });

/** A card that left before it was read says nothing of itself: it is laid down again. */
export const mustRepeat = (laid: Insertion) =>
  laid.state === "failed" && ["removed", "reset", "sharing", "reader_gone"].includes(laid.kind);

/** What can be said before its tap is sent; null where nothing is wrong so far. */
export function judgeReading(laid: Insertion, expected: Expected, rows: SheetRow[]): Verdict | null {
  if (laid.state === "failed") return verdict("unreadable", laid.text);
  const before = rows.find((row) => row.uid !== null && row.uid === laid.uid);
  if (before) return verdict("duplicate", `This inlay is number ${before.position} of the sheet.`);
  if (laid.message.kind === "protected") return verdict("locked", "Its message is shown only to who has its key.");
  if (laid.url === null) return verdict("unreadable", laid.sentence);
  const locked = laid.lock === "locked" || laid.lock === "key";
  if (expected.locked === false && locked) return verdict("locked", "It cannot be written any more, and should be open.");
  if (expected.locked === true && !locked) return verdict("not_locked", "Anyone can write it, and it should be locked.");
  return null;
}

/** What its URL leads to; null where that is as it should be. */
export function judgeTag({ tag, inlay, check }: Known, expected: Expected, experiences: Experience[]): Verdict | null {
  if (!check || check.tag_id === null) return verdict("wrong_tag", "Its URL names no tag of this service.");
  const other = check.inlay_id !== null && inlay !== null && inlay.tag_id !== null && inlay.tag_id !== check.tag_id;
  if (other) return verdict("wrong_tag", `The inlay is bound to another tag than the one its URL names.`);
  if (expected.experience_id !== null && tag && tag.experience_id !== expected.experience_id) {
    const name = experiences.find((one) => one.id === tag.experience_id)?.name;
    return verdict("wrong_experience", name ? `It leads to ${name}.` : "Its tag has no experience.");
  }
  return null;
}

/** What its tap came to. */
export function judgeTap(outcome: Outcome, check: Verification, expected: Expected): Verdict {
  if (expected.tag_verified === true && outcome.verified !== true) {
    const failed = check.steps.find((step) => step.verdict === "failed") ?? check.steps.find((step) => step.verdict !== "ok");
    return verdict("not_verified", failed?.detail ?? "Its code was not accepted.");
  }
  if (expected.tag_verified === false && outcome.verified !== false) {
    return verdict("not_verified", "It should not verify, and it does.");
  }
  const gap = check.steps.find((step) => step.verdict === "gap");
  if (gap && outcome.verified === true) return verdict("counter_gap", `Counter ${gap.detail}`);
  const counter = check.steps.find((step) => step.name === "counter" && step.verdict === "ok");
  return verdict("ok", counter ? `Counter ${counter.detail}` : (check.steps.at(-1)?.detail ?? ""));
}
