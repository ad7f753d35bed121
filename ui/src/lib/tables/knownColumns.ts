// The meanings that a person gave to the columns of a table, for the next table with the same
// headings. Each connection has its own.

import { kept } from "../window/kept";

export interface KnownColumns {
  /** The name of the file that was imported last with these meanings. */
  name: string;
  /** The headings of its columns, in their order. */
  headings: string[];
  /** The meaning of each column; empty if it was left out. */
  mapping: string[];
}

/** Most tables that are remembered. The windows of most owners know fewer than ten. */
const MOST = 50;

const list = kept<{ tables: KnownColumns[] }>("known columns", { tables: [] });

const same = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((text, index) => text === other[index]);

/** The remembered tables that have all headings of a table, the last one first. */
export const knownFor = (headings: readonly string[]): KnownColumns[] =>
  list.load().tables.filter((known) => headings.every((heading) => known.headings.includes(heading)));

/** Whether a table with these headings was imported in this form before. */
export const isSameTable = (known: KnownColumns, headings: readonly string[]): boolean => same(known.headings, headings);

/** The meanings of a table's columns, by those of a remembered table. */
export const mappingBy = (known: KnownColumns, headings: readonly string[]): string[] =>
  headings.map((heading) => known.mapping[known.headings.indexOf(heading)] ?? "");

/** Remembers the columns of an imported table. They replace those of the same headings. */
export function rememberColumns(known: KnownColumns): void {
  const others = list.load().tables.filter(({ name, headings }) => name !== known.name && !same(headings, known.headings));
  try {
    list.save({ tables: [known, ...others].slice(0, MOST) });
  } catch {
    // If the window cannot store anything, the next table gets the usual suggestions.
  }
}
