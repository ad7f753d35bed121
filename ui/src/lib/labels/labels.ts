// The choices for labels, and the request that they make.

import type { LabelRequest, LabelSelection, LabelSheet } from "../api/types";

export type LabelFormat = LabelRequest["format"];

/** A size of label: of a sheet that shops sell, of a roll, or one's own. */
export interface LabelStock {
  key: string;
  name: string;
  /** Width and height in millimetres; `null` for a size that is typed. */
  mm: [number, number] | null;
  /** The sheet; `null` for a page of each label. */
  sheet: Omit<LabelSheet, "skip"> | null;
}

const a4 = (columns: number, rows: number, margin_mm: [number, number], gap_mm: [number, number]) => ({
  page: "a4" as const,
  columns,
  rows,
  margin_mm,
  gap_mm,
});
const letter = (...sheet: Parameters<typeof a4>) => ({ ...a4(...sheet), page: "letter" as const });
const roll = (width: number, height: number): LabelStock => ({
  key: `roll-${width}x${height}`,
  name: `${width} × ${height} mm`,
  mm: [width, height],
  sheet: null,
});

/** Sheets by the numbers of Avery, which other makers print on their packages, too. */
export const sheets: LabelStock[] = [
  { key: "l7160", name: "A4, 21 labels, 63.5 × 38.1 mm (L7160)", mm: [63.5, 38.1], sheet: a4(3, 7, [7.2, 15.1], [2.5, 0]) },
  { key: "3474", name: "A4, 24 labels, 70 × 37 mm (3474)", mm: [70, 37], sheet: a4(3, 8, [0, 0.5], [0, 0]) },
  { key: "l7163", name: "A4, 14 labels, 99.1 × 38.1 mm (L7163)", mm: [99.1, 38.1], sheet: a4(2, 7, [4.6, 15.1], [2.5, 0]) },
  { key: "l7651", name: "A4, 65 labels, 38.1 × 21.2 mm (L7651)", mm: [38.1, 21.2], sheet: a4(5, 13, [4.7, 10.7], [2.5, 0]) },
  { key: "5160", name: "Letter, 30 labels, 66.7 × 25.4 mm (5160)", mm: [66.7, 25.4], sheet: letter(3, 10, [4.8, 12.7], [3.1, 0]) },
  { key: "5163", name: "Letter, 10 labels, 101.6 × 50.8 mm (5163)", mm: [101.6, 50.8], sheet: letter(2, 5, [4, 12.7], [4.7, 0]) },
];

export const rolls: LabelStock[] = [
  roll(25, 25),
  roll(40, 30),
  roll(50, 30),
  roll(62, 29),
  roll(100, 50),
  { key: "own", name: "Own size", mm: null, sheet: null },
];

export interface LabelChoices {
  format: LabelFormat;
  /** The key of a sheet or a roll. */
  stock: string;
  /** The own size in millimetres. A text is not a number. */
  width: number | string | null | undefined;
  height: number | string | null | undefined;
  /** The first free label of the first sheet, from 1. */
  first: number | string | null | undefined;
  dpi: number;
  level: string;
  colour: string;
  capitals: boolean;
  /** A picture in base64, or `null`. It is not kept. */
  logo: string | null;
  /** Lines of text, one on each line. */
  text: string;
}

export const usual: LabelChoices = {
  format: "pdf",
  stock: "l7160",
  width: 50,
  height: 30,
  first: 1,
  dpi: 203,
  level: "",
  colour: "#000000",
  capitals: false,
  logo: null,
  text: "{{tag:name}}",
};

/** The stocks that a format can be printed on: only a PDF has sheets. */
export const stocksOf = (format: LabelFormat): LabelStock[] => (format === "pdf" ? [...sheets, ...rolls] : rolls);

/** The chosen stock. If the format does not have it, a usual roll. */
export function stockOf({ format, stock }: LabelChoices): LabelStock {
  const stocks = stocksOf(format);
  return stocks.find(({ key }) => key === stock) ?? stocks.find(({ key }) => key === "roll-50x30")!;
}

/** Labels of a full sheet; 1 for a roll. */
export const perSheet = ({ sheet }: LabelStock): number => (sheet ? sheet.columns * sheet.rows : 1);

/** The request; `null` while a number is missing. */
export function requestOf(choices: LabelChoices, select: LabelSelection): LabelRequest | null {
  const { format, width, height, first, dpi, level, colour, capitals, logo, text } = choices;
  const stock = stockOf(choices);
  const mm = stock.mm ?? [width, height];
  const [w, h] = mm;
  if (typeof w !== "number" || typeof h !== "number") return null;
  if (stock.sheet && typeof first !== "number") return null;
  const lines = text.split("\n").map((line) => line.trim());
  return {
    select,
    format,
    label_mm: [w, h],
    sheet: stock.sheet && { ...stock.sheet, skip: Number(first) - 1 },
    qr: {
      level: (level || null) as NonNullable<LabelRequest["qr"]>["level"] & (string | null),
      colour: format === "zpl" ? "#000000" : colour,
      capitals,
      logo: logo === null ? null : { image: logo },
    },
    text: lines.filter((line) => line !== ""),
    dpi: format === "zpl" || format === "png" ? dpi : null,
  };
}

/** The proposed file name. */
export const fileName = (format: LabelFormat): string => `labels.${format === "png" || format === "svg" ? "zip" : format}`;
