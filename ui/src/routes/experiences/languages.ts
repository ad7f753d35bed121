// The languages of templates, each by its own name.

/** The language of the window; English if the system has none, as with the locale "C". */
export const ofWindow = (language = navigator.language) => (/^[a-z]{2,3}\b/i.test(language) ? language : "en");

/** The name of a language in itself, capitalized: "Français". */
export function ownName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: "language", fallback: "code" }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
