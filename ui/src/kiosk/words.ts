// Messages to visitors, in the languages of Tapdesk's pages: no error codes, no blame, and always
// the next step.

import type { Notice } from "./desktop";
import all from "./words.json";

export type Language = keyof typeof all;
/**
 * A text by the plural category of its number (CLDR). A language with only one form has "other".
 */
type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
export type Words = Omit<(typeof all)["en"], "closing"> & { closing: Plural };

export const languages = Object.keys(all) as Language[];

/** Languages that are written from right to left. */
const RTL: readonly Language[] = ["ar", "he"];
export const directionOf = (language: Language) => (RTL.includes(language) ? "rtl" : "ltr");

export const wordsOf = (language: Language): Words => all[language];

/**
 * The first of the preferred languages that is offered, "de-AT" as German; else English or the
 * first one.
 */
export function languageOf(preferred: readonly string[], among: readonly Language[] = languages): Language {
  const known = preferred.map((one) => one.toLowerCase().split("-")[0]).find((one) => among.includes(one as Language));
  return (known as Language | undefined) ?? (among.includes("en") ? "en" : among[0]) ?? "en";
}

export const noticeIn = (notice: Notice, language: Language): string => all[language][notice];

/** The languages that the owner offers, in the owner's order; all if none is chosen. */
export function offered(chosen: readonly string[]): Language[] {
  const known = chosen.filter((one): one is Language => languages.includes(one as Language));
  return known.length > 0 ? known : languages;
}

/** The texts that Tapdesk proposes to the owner. */
const PROPOSED = ["heading", "text", "shop_heading", "shop_text", "tasting_heading", "tasting_text"] as const;

function translated(text: string, language: Language) {
  const proposed = PROPOSED.find((one) => all.en[one] === text);
  return proposed ? all[language][proposed] : text;
}

/** The owner's own texts unchanged; those that Tapdesk proposed in the visitor's language. */
export const ownersWords = ({ heading, text }: { heading: string; text: string }, language: Language) => ({
  heading: translated(heading, language),
  text: translated(text, language),
});

/** The message when a visit is about to end; empty before. */
export function closing(seconds: number, language: Language): string {
  if (seconds > 15) return "";
  const forms: Plural = all[language].closing;
  const form = forms[new Intl.PluralRules(language).select(seconds)] ?? forms.other;
  return form.replace("{n}", String(seconds));
}
