// The encoding sheet of many tags as a CSV file, with a row per inlay.

import type { MacFrom, Mirror, Tag } from "../../lib/api/types";
import { formatCsv } from "../../lib/tables/csv";
import { encode } from "./encoding";

/** The CSV file of `tags` for an encoder's software. */
export function encodingCsv(tags: Tag[], tagUrl: string, mirror: Mirror, macFrom: MacFrom): string {
  const rows = tags.map((tag) => {
    const sheet = encode(tagUrl, tag.slug, mirror, macFrom);
    return {
      cells: [tag.name, tag.slug, sheet.url, sheet.ndef, ...sheet.offsets.map(({ value }) => String(value)), sheet.settings],
      sheet,
    };
  });
  const offsets = rows[0]?.sheet.offsets.map(({ name }) => name) ?? [];
  const header = ["name", "slug", "url", "ndef_file", ...offsets, "change_file_settings"];
  return formatCsv(
    header,
    rows.map(({ cells }) => cells),
  );
}
