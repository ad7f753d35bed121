// Encodings in words: how one ended, why, and what to do.

import type { EncodingReason, EncodingRunRow, EncodingState } from "../api/types";
import type { EncodingProgress } from "../shell/desktop";
import type { Tone } from "../ui/sound";

export interface Outcome {
  tone: Tone;
  /** In a word or two, to be read from a metre away. */
  title: string;
  /** Why, and the way out. */
  text: string;
  progress: EncodingProgress | null;
}

type Words = Pick<Outcome, "tone" | "title" | "text">;

/** Why an inlay is not encoded, and the way out. */
export const encodingReasons: Record<EncodingReason, Words> = {
  not_encodable: {
    tone: "bad",
    title: "Wrong chip",
    text: "This URL cannot be written to this kind of chip, or the chip has had all its generations of keys. Use another inlay.",
  },
  foreign_key: {
    tone: "bad",
    title: "Foreign key",
    text: "Key 0 of this chip is not one of this service, so nothing was written. Ask its supplier for the key, or use another inlay.",
  },
  foreign_slot: {
    tone: "bad",
    title: "Foreign key",
    text: "One of the keys 1 to 4 of this chip is not one of this service, so it could never be replaced. Nothing was written. Use another inlay.",
  },
  locked: {
    tone: "bad",
    title: "Key locked",
    text: "Too many wrong keys were tried on this chip. It cannot be encoded any more. Use another inlay.",
  },
  delayed: {
    tone: "again",
    title: "Chip delayed",
    text: "Wrong keys were tried on this chip, so it delays its answers. Place it on the reader again, and leave it there.",
  },
  lrp: {
    tone: "bad",
    title: "LRP mode",
    text: "This chip was switched to LRP mode, which cannot be undone: it takes only URL templates of LRP mode, and cannot be wiped. Use another inlay.",
  },
  random_id: {
    tone: "bad",
    title: "Random UID",
    text: "This chip hides its UID, which cannot be undone. Without it Tapdesk cannot tell which keys are its own. Use another inlay.",
  },
  uid_mismatch: {
    tone: "again",
    title: "Different chip",
    text: "The chip that answers is not the one that was placed on the reader. Place one inlay on the reader, and keep others away from it.",
  },
  url_too_long: {
    tone: "bad",
    title: "URL too long",
    text: "The tag's URL does not fit into this chip. Choose a shorter public base URL or slug.",
  },
  already_encoded: {
    tone: "warn",
    title: "Already encoded",
    text: "This chip is a finished inlay of a tag, has keys that were imported, or something else is written on it. To use it, wipe it first.",
  },
  tag_has_inlay: {
    tone: "warn",
    title: "Tag has an inlay",
    text: "The tag has an inlay already. Allow another one, or unbind the one it has.",
  },
  in_use_elsewhere: {
    tone: "warn",
    title: "Other run",
    text: "This chip belongs to another run. Finish it there, or use another inlay.",
  },
  read_only: {
    tone: "bad",
    title: "Read-only",
    text: "This chip is locked, or needs a password: it cannot be written any more. Use another inlay.",
  },
  not_genuine: {
    tone: "alarm",
    title: "Not the same chip",
    text: "Tapdesk changed the key of the chip with this UID, and this one has the factory key. It may imitate that UID. Keep it separate.",
  },
};

/** How far an encoding is, for people. */
export const encodingStates: Record<EncodingState, string> = {
  planned: "nothing written",
  writing: "partly encoded",
  keyed: "partly encoded",
  sealing: "partly encoded",
  sealed: "written, not yet verified",
  verified: "encoded and verified",
  interrupted: "interrupted",
  rejected: "rejected",
  abandoned: "cancelled",
  reset: "factory state",
};

/** What is for another attempt as long as the encoding is open, and final once the service has rejected the chip. */
const rejected: Partial<Record<EncodingReason, Words>> = {
  delayed: {
    tone: "bad",
    title: "Rejected",
    text: "Too many attempts with this chip were interrupted, and each one brings its delay closer. Use another inlay, or try again if you know this chip.",
  },
  uid_mismatch: {
    tone: "bad",
    title: "Different chip",
    text: "The chip that answers is not the one that was placed on the reader. Nothing was written. Place one inlay on the reader, and keep others away from it.",
  },
};

/** A reason in words. What cannot be repeated is never shown as something to repeat. */
export const reasonWords = (state: EncodingState, reason: EncodingReason): Words =>
  (state === "rejected" ? rejected[reason] : undefined) ?? encodingReasons[reason];

/** The tone and words of a chip in a run. */
export function rowWords({ state, reason }: Pick<EncodingRunRow, "state" | "reason">): Words {
  if (state === "verified") return { tone: "good", title: "Encoded", text: "" };
  if (state === "abandoned") return { tone: "bad", title: "Rejected", text: "Rejected at the desk." };
  if (state === "reset") return { tone: "warn", title: "Wiped", text: "In factory state." };
  if (reason) return reasonWords(state, reason);
  return { tone: "again", title: "Unfinished", text: "Place it on a reader again to finish it." };
}

/** What to do while an inlay is being encoded. */
export const workingWords = (progress: EncodingProgress | null): string =>
  progress?.reason === "delayed" ? "The chip delays its answers. Leave it on the reader." : "Leave the inlay on the reader.";

const again: Words = {
  tone: "again",
  title: "Again",
  text: "The inlay was removed too early or did not answer. Nothing is lost: place it on the reader again to finish it.",
};

/** How an insertion ended. */
export function outcomeOf(progress: EncodingProgress): Outcome {
  const { state, reason, refusal, result } = progress;
  if (refusal) return { tone: "bad", title: "Refused", text: refusal, progress };
  if (state === "verified") {
    return {
      tone: "good",
      title: "Encoded",
      text: result ? `A tap of it was verified, counter ${result.counter}.` : "A tap of it was verified.",
      progress,
    };
  }
  if (state === "reset") return { tone: "good", title: "Wiped", text: "The chip is in factory state. Its keys were verified.", progress };
  if (reason) return { ...reasonWords(state, reason), progress };
  return { ...again, progress };
}

/** The outcome of an attempt that did not reach the inlay or the service. */
export const failed = (why: string): Outcome => ({ tone: "again", title: "Again", text: why, progress: null });
