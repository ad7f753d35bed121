const words: Record<string, string> = {
  no_code: "no code",
  malformed: "malformed code",
  unknown_inlay: "unknown inlay",
  wrong_mac: "wrong MAC",
  replayed: "replayed",
  out_of_order: "out of order",
  keys_replaced: "keys replaced",
  verifier_off: "verifier off",
  static: "no code expected",
};

/** Why a tap has its state, in a word or two; nothing where the state says it all. */
export const reasonWords = (reason: string): string | null =>
  reason === "verified" ? null : (words[reason] ?? reason.replaceAll("_", " "));
