// Conditions as sentences: "the tag is registered", after an "If".

import type { CounterMove, OperatingSystem, Tech, VerificationState, When } from "../../lib/api/types";
import { sealWords } from "../../lib/inlays/seals";
import { counted } from "../../lib/format/format";
import { groups } from "../../lib/groups/groups.svelte";

export const outcomes: [VerificationState, string][] = [
  ["verified", "verified"],
  ["not_verified", "not verified"],
  ["not_checked", "not checked"],
];

export const moves: [CounterMove, string][] = [
  ["rose", "rose"],
  ["repeated", "did not rise"],
  ["jumped", "rose by too much"],
];

export const systems: [OperatingSystem, string][] = [
  ["ios", "iOS"],
  ["ipados", "iPadOS"],
  ["android", "Android"],
  ["windows", "Windows"],
  ["macos", "macOS"],
  ["linux", "Linux"],
  ["other", "another system"],
];

export const technologies: [Tech, string][] = [
  ["n", "NFC"],
  ["q", "QR code"],
  ["u", "Link"],
];

const named = new Map<string, string>([...outcomes, ...moves, ...systems, ...technologies]);

/** The names of a choice: "NFC or QR code". */
const either = (names: string[]): string => (names.length > 0 ? names.join(", ").replace(/, ([^,]*)$/, " or $1") : "…");

/** The key of a variable in words: "owner_email" is "owner email". */
export const variableWords = (key: string): string => key.replaceAll(/[_.-]+/g, " ").trim() || "…";

const names = { language: new Intl.DisplayNames(["en"], { type: "language" }), region: new Intl.DisplayNames(["en"], { type: "region" }) };

/** The name of a code, or the code itself while it is being typed. */
export function nameOfCode(type: keyof typeof names, code: string): string {
  try {
    return names[type].of(type === "region" ? code.toUpperCase() : code) ?? code;
  } catch {
    return code;
  }
}

const day = (moment: string): string => new Date(moment).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function sentence(when: When): string {
  switch (when.type) {
    case "variable_equals":
      if (when.value === "true") return `the tag is ${variableWords(when.variable)}`;
      if (when.value === "false") return `the tag is not ${variableWords(when.variable)}`;
      return `${variableWords(when.variable)} is ${when.value || "empty"}`;
    case "variable_differs":
      if (when.value === "true") return `the tag is not ${variableWords(when.variable)}`;
      return `${variableWords(when.variable)} is not ${when.value || "empty"}`;
    case "variable_empty":
      return `${variableWords(when.variable)} is empty`;
    case "variable_filled":
      return `${variableWords(when.variable)} is filled in`;
    case "verification":
      return `the tap is ${either(when.any_of.map((one) => named.get(one) ?? one))}`;
    case "counter":
      return `the counter ${either(when.any_of.map((one) => named.get(one) ?? one))}`;
    case "tamper":
      return `the seal is ${either(when.any_of.map(sealWords))}`;
    case "scan_count": {
      const { at_least: least, at_most: most } = when;
      const bounds = [
        typeof least === "number" && `at least ${counted(least, "time")}`,
        typeof most === "number" && `at most ${counted(most, "time")}`,
      ];
      return `the tag was tapped ${bounds.filter(Boolean).join(" and ") || "…"}`;
    }
    case "group":
      return `the tag is in ${either(when.any_of.map((id) => groups.name(id)))}`;
    case "language":
      return `the language is ${either(when.any_of.map((code) => nameOfCode("language", code)))}`;
    case "country":
      return `the visitor is in ${either(when.any_of.map((code) => nameOfCode("region", code)))}`;
    case "operating_system":
      return `the phone runs ${either(when.any_of.map((one) => named.get(one) ?? one))}`;
    case "technology":
      return `the tag was scanned by ${either(when.any_of.map((one) => named.get(one) ?? one))}`;
    case "split":
      return `the visitor is among ${when.from} to ${when.until}% of visitors`;
    case "time":
      return (
        [when.from && `it is after ${day(when.from)}`, when.until && `it is before ${day(when.until)}`].filter(Boolean).join(" and ") ||
        "it is …"
      );
  }
}
