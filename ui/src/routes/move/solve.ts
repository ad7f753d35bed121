// The request to the solver, and texts for its answer.

import type { SolveCandidate, SolveChip, Solved } from "../../lib/api/types";
import { count, counted } from "../../lib/format/format";
import { derivationWords } from "../../lib/inlays/derivations";
import { technologies } from "../../lib/inlays/technologies.svelte";

/** Most URLs, keys and master keys of one request. */
export const MOST_URLS = 5;
export const MOST_KEYS = 16;

/** The pieces of pasted text: separated by lines, spaces, commas or semicolons. */
export const pieces = (text: string): string[] => text.split(/[\s,;]+/).filter((piece) => piece !== "");

/** The lines that are not keys. */
export const noKeys = (keys: readonly string[], canBe: (text: string) => boolean): string[] => keys.filter((key) => !canBe(key));

export interface Verdict {
  /** Proved, narrowed or unknown, exactly as certain as the answer. */
  title: string;
  text: string;
}

/** Whether all of these formats are of chips without a key. */
const makeNoCode = (candidates: readonly SolveCandidate[]): boolean =>
  candidates.length > 0 && candidates.every(({ technology }) => technologies.find(technology)?.rolls === false);

/** The certainty of the answer, as text. `keys` is the number of keys and master keys that were given. */
export function verdict({ certainty, candidates, tried, urls, unused, notes }: Solved, keys = 0): Verdict {
  const checked = candidates.some(({ proved_by }) => proved_by > 0);
  if (certainty === "proved") {
    const by = candidates[0]?.proved_by ?? 0;
    const all = by === urls.length ? `all ${by} URLs` : `${by} URLs`;
    const one = by === 1 ? `The code of ${urls.length === 1 ? "the" : "one"} URL verifies` : `The codes of ${all} verify`;
    return { title: "Proved", text: `${one}, and as nothing else. ${counted(tried, "combination")} tried.` };
  }
  if (certainty === "narrowed" && checked && unused.some(({ reason }) => reason === "no_key")) {
    return {
      title: "Verified in part",
      text: "The codes of some URLs verify, and those of others do not. Add the keys of the other inlays, or remove their URLs.",
    };
  }
  const more = urls.length < MOST_URLS;
  if (certainty === "narrowed" && checked && candidates.length === 1) {
    const text = `${urls.length === 1 ? "The code verifies" : "The codes verify"} as this, and might by chance.`;
    return { title: "Very likely", text: more ? `${text} More URLs make it certain.` : text };
  }
  if (certainty === "narrowed" && checked) {
    return {
      title: `Narrowed to ${count(candidates.length)}`,
      text: `The codes verify as each of these. ${more ? "More URLs of other inlays can tell them apart." : "These URLs cannot tell them apart."}`,
    };
  }
  if (certainty === "narrowed" && makeNoCode(candidates)) {
    const choose = candidates.length > 1 ? " Choose your chip: they differ in nothing else that a URL shows." : "";
    return {
      title: candidates.length === 1 ? "Looks like this" : `Narrowed to ${count(candidates.length)}`,
      text: `Only by the shape of the URLs. These chips have no key, so no tap can be verified.${choose}`,
    };
  }
  if (certainty === "narrowed") {
    return {
      title: candidates.length === 1 ? "Looks like this" : `Narrowed to ${count(candidates.length)}`,
      text: `Only by the shape of the URLs: ${
        keys > 0
          ? `no code verifies with the ${keys === 1 ? "key" : "keys"} above. Check that ${keys === 1 ? "it is" : "they are"} of these inlays, and in the right field.`
          : "no code was checked. Add the keys of these inlays, or their master key, to prove it."
      }`,
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
export function keyWords({ slots, derivation }: Pick<SolveChip, "slots" | "derivation">): string {
  if (!slots) return "not known";
  const derived =
    slots.master === null ? null : `from master key ${slots.master + 1}${derivation ? `: ${derivationWords(derivation)}` : ""}`;
  if (derived && slots.meta === null) return derived;
  const parts = [
    slots.meta === null ? null : `key ${slots.meta + 1} is the meta key`,
    derived && `the file key ${derived}`,
    slots.file === null ? null : `key ${slots.file + 1} the file key`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** The UID and the counter of a URL. */
export const readWords = ({ uid, counter }: SolveChip): string =>
  [uid && `UID ${uid}`, counter === null ? null : `counter ${count(counter)}`].filter(Boolean).join(", ") || "names no chip";

/** Whether the inlays have keys of their own: then each is shown with its keys. */
export const haveOwnKeys = ({ chips }: SolveCandidate): boolean =>
  chips.some(({ slots, derivation }) => keyWords({ slots, derivation }) !== keyWords(chips[0]!));
