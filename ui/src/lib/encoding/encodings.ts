// Texts for encodings: the result, the reason, and the next step.

import { addressReasons } from "../address/words";
import type { EncodingAddress, EncodingReason, EncodingRunRow, EncodingState } from "../api/types";
import type { EncodingProgress } from "../shell/desktop";
import { bothChips, type Chips } from "../reader/chips";
import type { Tone } from "../ui/sound";

export interface Outcome {
  tone: Tone;
  /** A word or two that can be read from a metre away. */
  title: string;
  /** The reason, and the way out. */
  text: string;
  progress: EncodingProgress | null;
}

type Words = Pick<Outcome, "tone" | "title" | "text">;

/** The reason why an inlay is not encoded, and the way out. */
export const encodingReasons: Record<EncodingReason, Words> = {
  not_encodable: {
    tone: "bad",
    title: "Wrong chip",
    text: "This URL cannot be written to this kind of chip, a password hides which kind it is, or the chip has had all its generations of keys. Use another inlay.",
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
    text: "The tag's URL does not fit into this chip. Choose a shorter address or slug.",
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
  in_other_run: {
    tone: "warn",
    title: "Other run",
    text: "This chip belongs to another run. Finish it there, or use another inlay.",
  },
  read_only: {
    tone: "bad",
    title: "Read-only",
    text: "This chip is locked, or needs a password for what would be written. Nothing was written. Use another inlay.",
  },
  not_passed_on: {
    tone: "bad",
    title: "Other reader needed",
    text: "A write password needs a reader that passes the chip's own commands on, such as ACR122U or ACR1252U. Use another reader, or encode the inlay without a password.",
  },
  not_genuine: {
    tone: "alarm",
    title: "Not the same chip",
    text: "Tapdesk wrote a key or a password to the chip with this UID, and this one does not have it. It may imitate that UID. Keep it separate.",
  },
};

/** The state of an encoding, as text. */
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

/**
 * Reasons that allow another attempt while the encoding is open, and are final once the service has
 * rejected the chip.
 */
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

/** The text of a reason. A final reason is never shown as one to repeat. */
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

/** The next step while an inlay is being encoded. */
export const workingWords = (progress: EncodingProgress | null): string =>
  progress?.reason === "delayed" ? "The chip delays its answers. Leave it on the reader." : "Leave the inlay on the reader.";

const again: Words = {
  tone: "again",
  title: "Again",
  text: "The inlay was removed too early or did not answer. Nothing is lost: place it on the reader again to finish it.",
};

/** The result of a finished encoding: the chip is right, and its address was opened or not. */
function encodedWords(counter: number | null, address: EncodingAddress | null): Words {
  const title = "Encoded";
  const verified = counter === null ? "A tap of it was verified" : `A tap of it was verified, counter ${counter}`;
  if (address === null || address.opened === null) return { tone: "good", title, text: `${verified}. Its address was not opened.` };
  const { tag_url, opened, reason } = address;
  if (opened) return { tone: "good", title, text: `${verified}, and ${tag_url} was opened.` };
  // A person agreed to that address, for trying.
  if (reason === "loopback") return { tone: "good", title, text: `${verified}. ${tag_url} works only on this computer.` };
  const why = reason ? addressReasons[reason].title : "no answer";
  return { tone: "warn", title, text: `The chip is right, but ${tag_url} did not open: ${why.charAt(0).toLowerCase()}${why.slice(1)}.` };
}

/** The result of an insertion. `address` is the one in the chip's URL, once it is finished. */
export function outcomeOf(
  progress: EncodingProgress,
  chips: Chips = { found: null, wanted: null },
  address: EncodingAddress | null = null,
): Outcome {
  const { state, reason, refusal, result } = progress;
  if (refusal) return { tone: "bad", title: "Refused", text: refusal, progress };
  if (state === "verified") return { ...encodedWords(result?.counter ?? null, address), progress };
  if (state === "reset") return { tone: "good", title: "Wiped", text: "The chip is in factory state, which was verified.", progress };
  if (reason) {
    const words = reasonWords(state, reason);
    const both = reason === "not_encodable" ? bothChips(chips) : null;
    return { ...words, ...(both && { text: `${both} Use another inlay.` }), progress };
  }
  return { ...again, progress };
}

/** The outcome of an attempt that did not reach the inlay or the service. */
export const failed = (why: string): Outcome => ({ tone: "again", title: "Again", text: why, progress: null });
