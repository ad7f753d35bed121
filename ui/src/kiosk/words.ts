// Messages to visitors, in the languages of Tapdesk's pages: no error codes, no blame,
// and what to do next.

import type { Notice } from "./desktop";
import all from "./words.json";

export type Language = keyof typeof all;
export type Words = (typeof all)["en"];

export const languages = Object.keys(all) as Language[];

/** Languages that are written from right to left. */
const RTL: readonly Language[] = ["ar", "he"];
export const directionOf = (language: Language) => (RTL.includes(language) ? "rtl" : "ltr");

export const wordsOf = (language: Language): Words => all[language];

/** The first of the preferred languages that there are words in: "de-AT" is German. */
export function languageOf(preferred: readonly string[]): Language {
  const known = preferred.map((one) => one.toLowerCase().split("-")[0]).find((one) => languages.includes(one as Language));
  return (known as Language | undefined) ?? "en";
}

export const noticeIn = (notice: Notice, language: Language): string => all[language][notice];

/** The owner's own words as they are; those that Tapdesk began with, in the visitor's language. */
export function ownersWords(own: { heading: string; text: string }, language: Language) {
  const { heading, text } = all[language];
  return {
    heading: own.heading === all.en.heading ? heading : own.heading,
    text: own.text === all.en.text ? text : own.text,
  };
}

/** When a visit is about to end; nothing before. */
export function closing(seconds: number, language: Language): string {
  if (seconds > 15) return "";
  if (seconds === 1 && language === "en") return "This page closes in 1 second";
  return all[language].closing.replace("{n}", String(seconds));
}
