// The labels that a run prints, and their sizes.

import type { EncodingRunRow } from "../../lib/api/types";

export interface Label {
  key: number;
  position: number | null;
  /** The tag's name. */
  name: string;
  /** The content of its QR code: the tag URL, whatever URL the inlay writes. */
  url: string;
}

/** A label for each finished inlay, in the order of their positions on the roll. */
export const labelsOf = (rows: readonly EncodingRunRow[], tagUrl: string): Label[] =>
  rows
    .filter((row) => row.state === "verified" && row.slug !== null)
    .sort((a, b) => (a.position ?? Infinity) - (b.position ?? Infinity))
    .map(({ encoding_id, position, slug, name }) => ({
      key: encoding_id,
      position,
      name: name ?? slug ?? "",
      url: `${tagUrl}/${slug}`,
    }));

export interface LabelSize {
  key: string;
  name: string;
  /**
   * Width and height of a label in millimetres, with one label per page; null for sheets of paper.
   */
  mm: [number, number] | null;
}

/** Common rolls of label printers, and paper. */
export const labelSizes: LabelSize[] = [
  { key: "paper", name: "Paper, 4 in a row", mm: null },
  { key: "25x25", name: "25 × 25 mm", mm: [25, 25] },
  { key: "40x30", name: "40 × 30 mm", mm: [40, 30] },
  { key: "50x30", name: "50 × 30 mm", mm: [50, 30] },
  { key: "62x29", name: "62 × 29 mm", mm: [62, 29] },
];

export const labelSize = (key: string): LabelSize => labelSizes.find((size) => size.key === key) ?? labelSizes[0]!;

/** The CSS rule `@page` for a size. */
export const pageRule = ({ mm }: LabelSize): string =>
  mm === null ? "@page { size: auto; margin: 10mm; }" : `@page { size: ${mm[0]}mm ${mm[1]}mm; margin: 0; }`;
