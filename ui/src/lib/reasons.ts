import type { Reason } from "./api/types";

const words: Record<Reason, string | null> = {
  verified: null,
  replayed: "replayed",
  out_of_order: "out of order",
  wrong_mac: "wrong MAC",
  unknown_inlay: "unknown inlay",
  malformed: "malformed code",
  no_code: "no code",
  keys_replaced: "keys replaced",
  verifier_off: "verifier off",
  static: "plain address",
};

/** Why a tap has its state, in a word or two; nothing where the state says it all. */
export const reasonWords = (reason: Reason): string | null => words[reason];

/** The reasons that have words, and those: "Replayed". */
export const reasons = Object.entries(words).flatMap(([reason, text]): [string, string][] =>
  text === null ? [] : [[reason, text.charAt(0).toUpperCase() + text.slice(1)]],
);
