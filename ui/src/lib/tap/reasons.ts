import type { Reason } from "../api/types";

const words: Record<Reason, string | null> = {
  verified: null,
  replayed: "replayed",
  out_of_order: "out of order",
  wrong_mac: "wrong code",
  unknown_inlay: "unknown inlay",
  malformed: "malformed code",
  no_code: "no code",
  keys_replaced: "keys replaced",
  counter_off: "counter switched off",
  guessed: "too many wrong codes",
  blocked: "inlay blocked",
  verifier_off: "verifier off",
  static: "static URL",
  same_code: "always the same code",
  no_mac: "code without proof",
  other_uid: "another chip's UID",
  jumped: "counter jumped",
};

/** The reason for the state of a tap; `null` if the state implies it. */
export const reasonWords = (reason: Reason): string | null => words[reason];

/** All reasons that have a text, such as "Replayed". */
export const reasons = Object.entries(words).flatMap(([reason, text]): [string, string][] =>
  text === null ? [] : [[reason, text.charAt(0).toUpperCase() + text.slice(1)]],
);
