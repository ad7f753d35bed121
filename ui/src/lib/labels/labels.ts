// The choices for labels, and the request that they make.

import type { LabelRequest, LabelSelection, LabelSheet } from "../api/types";
import shops from "./sheets.json";

export type LabelFormat = LabelRequest["format"];

/** A number in a field: `null` if it is empty, and the text if that is no number. */
export type Typed = number | string | null | undefined;

/** A size of label: of a sheet that shops sell, of a roll, or one's own. */
export interface LabelStock {
  key: string;
  name: string;
  /** Width and height in millimetres; `null` for a size that is typed. */
  mm: [number, number] | null;
  /** The sheet; `null` for a page of each label. */
  sheet: Omit<LabelSheet, "skip"> | null;
}

const roll = (width: number, height: number): LabelStock => ({
  key: `roll-${width}x${height}`,
  name: `${width} × ${height} mm`,
  mm: [width, height],
  sheet: null,
});

/** Sheets by the numbers of Avery, which other makers print on their packages, too. */
export const sheets = shops as unknown as LabelStock[];

export const rolls: LabelStock[] = [
  roll(25, 25),
  roll(40, 30),
  roll(50, 30),
  roll(62, 29),
  roll(100, 50),
  { key: "own", name: "Own size", mm: null, sheet: null },
];

/** A sheet that a person describes. Lengths are in millimetres. */
export interface OwnSheet {
  /** Empty until it is saved. */
  name: string;
  page: LabelSheet["page"];
  columns: Typed;
  rows: Typed;
  width: Typed;
  height: Typed;
  /** Margins to the first label. */
  left: Typed;
  top: Typed;
  /** Gaps between labels: from left to right, and from top to bottom. */
  across: Typed;
  down: Typed;
}

/** The key of the stock that is an own sheet. */
export const OWN_SHEET = "own-sheet";

export interface LabelChoices {
  format: LabelFormat;
  /** The key of a sheet or a roll. */
  stock: string;
  /** The own size in millimetres. */
  width: Typed;
  height: Typed;
  /** The own sheet. */
  sheet: OwnSheet;
  /** The first free label of the first sheet, from 1. */
  first: Typed;
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
  sheet: { name: "", page: "a4", columns: 3, rows: 8, width: 70, height: 36, left: 0, top: 4.5, across: 0, down: 0 },
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

/** An own sheet as a stock; without a sheet while a number is missing. */
function ownStock({ page, columns, rows, width, height, left, top, across, down }: OwnSheet): LabelStock {
  const numbers = [columns, rows, width, height, left, top, across, down];
  const stock = { key: OWN_SHEET, name: "Own sheet", mm: null, sheet: null };
  if (!numbers.every((one) => typeof one === "number")) return stock;
  const [inRow, inColumn, w, h, x, y, right, below] = numbers as [number, number, number, number, number, number, number, number];
  return { ...stock, mm: [w, h], sheet: { page, columns: inRow, rows: inColumn, margin_mm: [x, y], gap_mm: [right, below] } };
}

/** The saved sheets with this one, which replaces the one of its name. */
export function withSheet(saved: OwnSheet[], sheet: OwnSheet): OwnSheet[] {
  const named = { ...sheet, name: sheet.name.trim() };
  const others = saved.filter(({ name }) => name !== named.name);
  return [...others, named].sort((one, other) => one.name.localeCompare(other.name));
}

/** The chosen stock. If the format does not have it, a usual roll. */
export function stockOf({ format, stock, sheet }: LabelChoices): LabelStock {
  if (format === "pdf" && stock === OWN_SHEET) return ownStock(sheet);
  const stocks = stocksOf(format);
  return stocks.find(({ key }) => key === stock) ?? stocks.find(({ key }) => key === "roll-50x30")!;
}

/** Labels of a full sheet; 1 for a roll. */
export const perSheet = ({ sheet }: LabelStock): number => (sheet ? sheet.columns * sheet.rows : 1);

/** The request; `null` while a number is missing. */
export function requestOf(choices: LabelChoices, select: LabelSelection): LabelRequest | null {
  const { format, width, height, first, dpi, level, colour, capitals, logo, text } = choices;
  const stock = stockOf(choices);
  if (stock.key === OWN_SHEET && !stock.sheet) return null;
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

/** The proposed file name. More than one PDF come as a ZIP. */
export const fileName = (format: LabelFormat, files: number): string =>
  `labels.${format === "png" || format === "svg" || files > 1 ? "zip" : format}`;
