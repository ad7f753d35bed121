// The request to the solver, and texts for its answer.

import type { SolveCandidate, Solved, Technology } from "../../lib/api/types";
import { count, counted } from "../../lib/format/format";
import { chipName } from "../../lib/inlays/technologies";
import { derivationWords } from "../../lib/inlays/derivations";

/** Most URLs, keys and master keys of one request. */
export const MOST_URLS = 5;
export const MOST_KEYS = 16;

/** The pieces of pasted text: separated by lines, spaces, commas or semicolons. */
export const pieces = (text: string): string[] => text.split(/[\s,;]+/).filter((piece) => piece !== "");

/** The lines that are not keys. */
export const noKeys = (keys: readonly string[], pattern: RegExp): string[] => keys.filter((key) => !pattern.test(key));
export const KEY = /^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{20})$/;
export const MASTER_KEY = /^([0-9A-Fa-f]{2}){1,64}$/;

export interface Verdict {
  /** Proved, narrowed or unknown, exactly as certain as the answer. */
  title: string;
  text: string;
}

/** The certainty of the answer, as text. */
export function verdict({ certainty, candidates, tried, urls, notes }: Solved): Verdict {
  const checked = candidates.some(({ proved_by }) => proved_by > 0);
  if (certainty === "proved") {
    const by = candidates[0]?.proved_by ?? 0;
    const one = by === 1 ? "The code of the URL verifies" : `The codes of all ${by} URLs verify`;
    return { title: "Proved", text: `${one}, and as nothing else. ${counted(tried, "combination")} tried.` };
  }
  if (certainty === "narrowed" && checked) {
    return {
      title: `Narrowed to ${count(candidates.length)}`,
      text: `The codes verify as each of these. ${urls.length < MOST_URLS ? "More URLs of other inlays can tell them apart." : "These URLs cannot tell them apart."}`,
    };
  }
  if (certainty === "narrowed") {
    return {
      title: candidates.length === 1 ? "Looks like this" : `Narrowed to ${count(candidates.length)}`,
      text: "Only by the shape of the URLs: no code was checked. Add the keys of these inlays, or their master key, to prove it.",
    };
  }
  const title = "Cannot tell";
  if (candidates.length > 0) {
    return {
      title,
      text: "Time ran out before all combinations were tried. Enter fewer keys, and only those that can belong to these URLs.",
    };
  }
  // A specific reason is shown next to it, so nobody needs to look for a wrong key.
  if (notes.length > 0) return { title, text: "No chip that Tapdesk knows makes such URLs." };
  return {
    title,
    text: "No chip that Tapdesk knows makes such URLs with these keys. Paste URLs as the inlays open them, before any redirect, and check that the keys are theirs.",
  };
}

/** The role of each entered key. */
export function keyWords({ slots, derivation, proved_by }: SolveCandidate): string {
  if (proved_by === 0 || !slots) return "not known";
  if (slots.master !== null) return `from master key ${slots.master + 1}${derivation ? `: ${derivationWords(derivation)}` : ""}`;
  const parts = [
    slots.meta === null ? null : `key ${slots.meta + 1} is the meta key`,
    slots.file === null ? null : `key ${slots.file + 1} the file key`,
  ];
  return parts.filter(Boolean).join(", ");
}

export const chipWords = (technology: Technology, mode: string) => `${chipName(technology)}${mode === "lrp" ? ", LRP" : ""}`;
