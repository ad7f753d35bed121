// What a person may decide about a chip that was not encoded, who knows that it is the right one. The
// service asks for the scope "keys" then.

import type { EncodingReason } from "../api/types";

interface Word {
  /** What the button says that asks. */
  ask: string;
  title: string;
  action: string;
  /** What becomes of it. */
  text: string;
}

const words: Partial<Record<EncodingReason, Word>> = {
  already_encoded: {
    ask: "Encode it with new keys…",
    title: "Encode it with new keys?",
    action: "Encode with new keys",
    text: "What is on the chip is replaced: its URL, its keys, and its counter, which begins again.",
  },
  foreign_key: {
    ask: "Try its keys again…",
    title: "Try the keys of this chip again?",
    action: "Try again",
    text:
      "Tapdesk asks a chip for its keys six times, and another chip with the same UID may have used them up. " +
      "Try again only if you know that this is the right chip: one that refuses 1,000 times is locked permanently.",
  },
  not_genuine: {
    ask: "It is the right chip…",
    title: "Is this the right chip?",
    action: "Go on with this chip",
    text:
      "Another program may have given it the factory key. If you go on, this chip counts as the one with this UID, " +
      "and codes of the one that had the UID before are no longer verified.",
  },
};

export const wordFor = (reason: EncodingReason | null): Word | null => (reason && words[reason]) ?? null;
