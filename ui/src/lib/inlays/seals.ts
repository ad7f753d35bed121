// Words for the state of an inlay's tamper loop.

import type { Tamper } from "../api/types";

const words: Record<Tamper, string> = {
  sealed: "sealed",
  reclosed: "closed again",
  open: "open",
  off: "switched off",
  unknown: "not known",
};

export const sealWords = (state: Tamper): string => words[state];

/** All states with their words. */
export const seals = Object.entries(words) as [Tamper, string][];
