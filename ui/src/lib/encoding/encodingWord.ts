// Decisions about a chip that was not encoded, by a person who knows that it is the right one. The
// service then requires the scope "keys".

import type { EncodingReason } from "../api/types";
import type { EncodingProgress } from "../shell/desktop";

interface Word {
  /** The text of the button. */
  ask: string;
  title: string;
  action: string;
  /** The consequence. */
  text: string;
}

const words: Partial<Record<EncodingReason, Word>> = {
  already_encoded: {
    ask: "Encode with new keys…",
    title: "Encode this chip with new keys?",
    action: "Encode with new keys",
    text: "This replaces the URL and the keys of the chip. Its counter restarts at 0.",
  },
  foreign_key: {
    ask: "Try keys again…",
    title: "Try the keys of this chip again?",
    action: "Try again",
    text:
      "Tapdesk asks a chip for its keys six times, and another chip with the same UID may have used them up. " +
      "Try again only if you know that this is the right chip: one that refuses 1,000 times is locked permanently.",
  },
  delayed: {
    ask: "Try again…",
    title: "Try this chip again?",
    action: "Try again",
    text:
      "40 attempts with this chip in a row were interrupted, and a chip delays its answers from 50 on. " +
      "Try again only if the chip can stay on the reader until it is encoded.",
  },
  not_genuine: {
    ask: "Continue with this chip…",
    title: "Continue with this chip?",
    action: "Continue with this chip",
    text:
      "Continue only if you know that this is the right chip, for example because another program reset its key. " +
      "Tapdesk then takes it for the chip with this UID. Codes made with the former keys no longer verify.",
  },
};

/** Only for a rejected chip: any other chip is placed on the reader again. */
export const wordFor = (progress: Pick<EncodingProgress, "state" | "reason"> | null): Word | null =>
  (progress?.state === "rejected" && progress.reason && words[progress.reason]) || null;
