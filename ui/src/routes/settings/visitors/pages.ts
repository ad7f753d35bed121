// The look and the texts of plain pages, as a form has them.

import words from "../../../../../service/data/words.json";
import type { PageText, Pages, PlainPage, Settings } from "../../../lib/api/types";
import { contrast } from "../../../lib/ui/contrast";

/** The pages whose texts an owner can write, each with its name and the names of its default texts. */
export const kinds: readonly { page: PlainPage; name: string; heading: Word | null; text: Word }[] = [
  { page: "not_found", name: "Unknown tag", heading: "unknown_title", text: "unknown" },
  { page: "not_set_up", name: "Not set up", heading: null, text: "not_set_up" },
  { page: "recalled", name: "Recalled", heading: null, text: "recalled" },
  { page: "home", name: "Page at /", heading: "home_title", text: "home" },
];

type Word = keyof (typeof words)["en"];

const texts: Record<string, Record<Word, string>> = words;

/** The languages in which the service has texts. */
export const languages = Object.keys(texts);

/** The default heading and text of a page. A page about a tag has the tag's title as its heading. */
export function defaults(page: PlainPage, language: string): { heading: string; text: string } {
  const { heading, text } = kinds.find((kind) => kind.page === page)!;
  const own = texts[language.split("-")[0]!.toLowerCase()] ?? words.en;
  return { heading: heading ? own[heading] : "The title of the tag", text: own[text] };
}

export interface PagesForm {
  name: string;
  accent: string | null;
  home_url: string;
  texts: PageText[];
}

export const formOf = ({ pages: { value } }: Settings): PagesForm => ({
  name: value.name ?? "",
  accent: value.accent ?? null,
  home_url: value.home_url ?? "",
  texts: value.texts ?? [],
});

/** The values that change; a text without letters is none. */
export const valueOf = (changes: Partial<PagesForm>): Partial<Pages> =>
  Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value === "" ? null : value]));

/** The own text of a page in a language. */
export const textIn = (texts: readonly PageText[], page: PlainPage, language: string): PageText | undefined =>
  texts.find((text) => text.page === page && text.language === language);

/** The texts with a changed member of one of them. One with neither a heading nor a text is left out. */
export function withText(
  texts: readonly PageText[],
  page: PlainPage,
  language: string,
  change: Partial<Pick<PageText, "heading" | "text">>,
): PageText[] {
  const before = textIn(texts, page, language);
  const after = { heading: null, text: null, ...before, ...change, page, language };
  const kept = after.heading || after.text ? [after] : [];
  return before ? texts.flatMap((one) => (one === before ? kept : [one])) : [...texts, ...kept];
}

/** The background of a page in the light theme. */
export const GROUND = "#fcfcfd";

/** The accent colour of a page without an own one. */
export const ACCENT = "#1f4fd8";

/** The nearest shade of a colour that can be read on the page, as the service finds it. */
export function readable(colour: string): string {
  const parts = [1, 3, 5].map((from) => Number.parseInt(colour.slice(from, from + 2), 16));
  for (let percent = 0; percent < 100; percent += 4) {
    const mixed = parts.map((part) => Math.floor((part * (100 - percent) + 50) / 100));
    const shade = `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    if (contrast(shade, GROUND) >= 4.5) return shade;
  }
  return "#000000";
}
