// Which labels a run prints.

import type { EncodingRunRow } from "../../lib/api/types";

export interface Label {
  key: number;
  position: number | null;
  slug: string;
  /** What its QR code holds: the tag URL, however the inlay writes its own. */
  url: string;
}

/** A label for each finished inlay, in the order of their positions: that of the roll. */
export const labelsOf = (rows: readonly EncodingRunRow[], tagUrl: string): Label[] =>
  rows
    .filter((row) => row.state === "verified" && row.slug !== null)
    .sort((a, b) => (a.position ?? Infinity) - (b.position ?? Infinity))
    .map(({ encoding_id, position, slug }) => ({ key: encoding_id, position, slug: slug ?? "", url: `${tagUrl}/${slug}` }));
