// The encoding sheet of many tags as a CSV file, with a row per inlay.

import type { EncodingSheet, Tag } from "../../lib/api/types";
import { formatCsv } from "../../lib/tables/csv";

/** A tag, and the data for its chip. */
export interface Row {
  tag: Pick<Tag, "name" | "slug">;
  sheet: EncodingSheet;
}

/** The names of the offsets in the data sheet, by the placeholder at each. */
const offsetNames: Record<string, string> = { uid: "UIDOffset", counter: "SDMReadCtrOffset", picc: "PICCDataOffset", mac: "SDMMACOffset" };

/** The offsets of a sheet by their names, in the order of the chip's settings. */
function offsetsOf({ mirrors, mac_input }: EncodingSheet): [name: string, offset: number][] {
  const named = mirrors.map(({ name, offset }): [string, number] => [offsetNames[name] ?? name, offset]);
  const input: [string, number][] = mac_input ? [["SDMMACInputOffset", mac_input.offset]] : [];
  return [...named.slice(0, -1), ...input, ...named.slice(-1)];
}

/** The CSV file of `rows` for an encoder's software. */
export function encodingCsv(rows: readonly Row[]): string {
  const offsets = rows[0] ? offsetsOf(rows[0].sheet).map(([name]) => name) : [];
  return formatCsv(
    ["name", "slug", "url", "ndef_file", ...offsets, "change_file_settings"],
    rows.map(({ tag, sheet }) => [
      tag.name,
      tag.slug,
      sheet.url,
      sheet.bytes,
      ...offsetsOf(sheet).map(([, offset]) => String(offset)),
      sheet.change_file_settings?.data ?? "",
    ]),
  );
}
