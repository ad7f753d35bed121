// What the columns of other services' exports mean. What a preset does not know is guessed
// as for any file, and can be changed.

import { guess, type Table } from "../tags/csv";

export interface Preset {
  key: string;
  name: string;
  /** Meanings of columns, by their names in lower case with underscores. */
  columns: Record<string, string>;
}

export const presets: Preset[] = [
  { key: "csv", name: "Any CSV file", columns: {} },
  {
    key: "ixkio",
    name: "ixkio",
    columns: { tag_uid: "uid", uid: "uid", tag_id: "name", xuid: "attribute:xuid", batch: "attribute:batch", batch_code: "attribute:batch", counter: "last_counter", scan_count: "", key: "file_key", sdm_file_key: "file_key", sdm_meta_key: "meta_key" },
  },
  {
    key: "gototags",
    name: "GoToTags",
    columns: { uid: "uid", chip_uid: "uid", tag_name: "name", title: "title", id: "attribute:gototags_id", nfc_counter: "last_counter", read_counter: "last_counter", chip_type: "", url: "", encoded_data: "" },
  },
  {
    key: "boltcard",
    name: "boltcard",
    columns: { card_name: "name", uid: "uid", k1: "meta_key", k1_decrypt_key: "meta_key", k2: "file_key", k2_cmac_key: "file_key", k0: "", k0_auth_key: "", k3: "", k4: "", last_counter_value: "last_counter", counter: "last_counter", card_id: "attribute:card_id" },
  },
];

/** The meaning of each column. One of ours has one column, the first that seems to be it. */
export function mappingOf(table: Table, preset: Preset): string[] {
  const taken = new Set<string>();
  return table.header.map((name) => {
    const plain = name.trim().toLowerCase().replaceAll(/[\s-]+/g, "_");
    const meaning = preset.columns[plain] ?? guess(name);
    if (meaning === "" || taken.has(meaning)) return "";
    taken.add(meaning);
    return meaning;
  });
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
