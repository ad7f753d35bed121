// What the columns of other services' exports mean here: the service says it, and it can be
// changed column by column.

import type { ImportPreset } from "../../lib/api/types";
import { columns, guess, type Table } from "../tags/csv";

const plain = (title: string) =>
  title
    .trim()
    .toLowerCase()
    .split(/[\s_-]+/)
    .join(" ");

/** The meaning of each column. One of ours has one column, the first that seems to be it. */
export function mappingOf(table: Table, preset: ImportPreset): string[] {
  const taken = new Set<string>();
  return table.header.map((name) => {
    const known = preset.columns.find(({ theirs }) => theirs.some((title) => plain(title) === plain(name)));
    const ours = columns.find((column) => column === name);
    const meaning = known?.ours ?? (preset.others === "ignore" ? (ours ?? "") : guess(name));
    if (meaning === "" || taken.has(meaning)) return "";
    taken.add(meaning);
    return meaning;
  });
}

/** The columns of a file whose meaning no document of the other service states. */
export function guessed(table: Table, preset: ImportPreset): string[] {
  const isGuess = (name: string) =>
    preset.columns.some((known) => known.guessed && known.theirs.some((title) => plain(title) === plain(name)));
  return table.header.filter(isGuess);
}

/** What all inlays of a file have in common, where the file does not say it. */
export interface Common {
  template: string;
  technology: string;
  mode: string;
  /** Empty if the file has the keys. */
  master_key_id: string;
}

const KEYS = ["meta_key", "file_key", "master_key_id"];

/** The table with the columns that the file lacks: what is common, and a name for each tag. */
export function completed(table: Table, mapping: readonly string[], common: Common): { table: Table; mapping: string[] } {
  const own = (name: string) => mapping.includes(name);
  const uid = mapping.indexOf("uid");
  const added: [string, (row: readonly string[]) => string][] = [];
  if (!own("name")) added.push(["name", (row) => (uid < 0 ? "" : `Inlay ${(row[uid] ?? "").trim()}`)]);
  if (!own("template") && !own("url_template_id")) added.push(["template", () => common.template]);
  if (!own("technology")) added.push(["technology", () => common.technology]);
  if (!own("mode") && common.mode === "lrp") added.push(["mode", () => common.mode]);
  if (common.master_key_id && !KEYS.some(own)) added.push(["master_key_id", () => common.master_key_id]);
  return {
    table: {
      ...table,
      header: [...table.header, ...added.map(([name]) => name)],
      rows: table.rows.map((row) => [...table.header.map((_, index) => row[index] ?? ""), ...added.map(([, value]) => value(row))]),
    },
    mapping: [...mapping, ...added.map(([name]) => name)],
  };
}
