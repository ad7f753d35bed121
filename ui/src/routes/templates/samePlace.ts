// URL templates of the same host and path, and the parts of a URL that tell them apart.

import type { UrlTemplate } from "../../lib/api/types";
import { lengthOf } from "../../lib/inlays/technologies";
import { used } from "../../lib/inlays/urlTemplate";

type Form = Pick<UrlTemplate, "id" | "template" | "technology" | "mode" | "enc_length">;

/** Host and path with all placeholders alike. */
export const placeOf = (template: string) =>
  template
    .replace(/[?#].*$/s, "")
    .replaceAll(/\{[^{}]*\}/g, "{}")
    .toLowerCase();

/** The others at the place of a template. */
export const atSamePlace = <T extends Pick<Form, "id" | "template">>(one: Pick<Form, "id" | "template">, all: readonly T[]): T[] =>
  all.filter((other) => other.id !== one.id && placeOf(other.template) === placeOf(one.template));

/** The number of templates at each place. */
export function placeCounts(all: readonly Pick<Form, "template">[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { template } of all) counts.set(placeOf(template), (counts.get(placeOf(template)) ?? 0) + 1);
  return counts;
}

const braces = (names: readonly string[]) => names.map((name) => `{${name}}`).join(" and ");

/** How URLs of `other` differ from those of `one`, as a sentence. */
export function apart(one: Form, other: Form): string {
  const [mine, theirs] = [used(one.template), used(other.template)];
  const more = theirs.filter((name) => !mine.includes(name));
  const less = mine.filter((name) => !theirs.includes(name));
  if (more.length > 0 || less.length > 0) {
    const parts = [...(more.length > 0 ? [`has ${braces(more)}`] : []), ...(less.length > 0 ? [`has no ${braces(less)}`] : [])];
    return `${parts.join(", ")}.`;
  }
  const lengths = theirs.flatMap((name) => {
    const [its, own] = [other, one].map(({ technology, mode, enc_length }) =>
      name === "enc" ? enc_length : lengthOf(technology, mode, name),
    );
    return its !== own && typeof its === "number" ? [`${its} characters in {${name}}`] : [];
  });
  return lengths.length > 0 ? `has ${lengths.join(" and ")}.` : "has other parameters.";
}
