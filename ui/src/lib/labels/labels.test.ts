import { expect, test } from "vitest";
import { fileName, OWN_SHEET, perSheet, requestOf, rolls, sheets, stockOf, stocksOf, usual, withSheet } from "./labels";

const select = { ids: [1, 2] };

test("every sheet has room for its labels", () => {
  const pages = { a4: [210, 297], letter: [215.9, 279.4] };
  for (const { key, mm, sheet } of sheets) {
    const { columns, rows, margin_mm, gap_mm, page } = sheet!;
    [columns, rows].forEach((cells, side) => {
      const needed = margin_mm![side]! + cells * mm![side]! + (cells - 1) * gap_mm![side]!;
      expect(needed, key).toBeLessThanOrEqual(pages[page][side]!);
      // The other edge is about as wide.
      expect(pages[page][side]! - needed - margin_mm![side]!, key).toBeLessThan(2);
    });
  }
});

test("the first free label becomes the number of used ones", () => {
  const request = requestOf({ ...usual, first: 5 }, select)!;
  expect(request.sheet).toMatchObject({ page: "a4", columns: 3, rows: 7, skip: 4 });
  expect(request.label_mm).toEqual([63.5, 38.1]);
  expect(perSheet(stockOf(usual))).toBe(21);
});

test("only a PDF has sheets, and only dots have a resolution", () => {
  const images = requestOf({ ...usual, format: "png" }, select)!;
  expect(images.sheet).toBeNull();
  expect(images.label_mm).toEqual([50, 30]);
  expect(images.dpi).toBe(203);
  expect(requestOf({ ...usual, format: "svg" }, select)!.dpi).toBeNull();
  expect(stocksOf("zpl")).toEqual(rolls);
  expect(requestOf({ ...usual, format: "zpl", colour: "#aa0000" }, select)!.qr!.colour).toBe("#000000");
});

test("a size that is not a number makes no request, and empty lines are left out", () => {
  expect(requestOf({ ...usual, stock: "own", width: "x" }, select)).toBeNull();
  expect(requestOf({ ...usual, first: null }, select)).toBeNull();
  expect(requestOf({ ...usual, text: "\n{{tag:name}}\n\n No. 1 " }, select)!.text).toEqual(["{{tag:name}}", "No. 1"]);
  expect(fileName("svg", 1)).toBe("labels.zip");
  expect(fileName("zpl", 1)).toBe("labels.zpl");
  expect(fileName("pdf", 1)).toBe("labels.pdf");
  expect(fileName("pdf", 2)).toBe("labels.zip");
});

test("an own sheet is printed as it is described, and on PDF only", () => {
  const sheet = { ...usual.sheet, columns: 2, rows: 5, width: 90, height: 50, left: 12, top: 13.5, across: 3, down: 2 };
  const own = { ...usual, stock: OWN_SHEET, sheet, first: 3 };
  const request = requestOf(own, select)!;
  expect(request.label_mm).toEqual([90, 50]);
  expect(request.sheet).toEqual({ page: "a4", columns: 2, rows: 5, margin_mm: [12, 13.5], gap_mm: [3, 2], skip: 2 });
  expect(perSheet(stockOf(own))).toBe(10);
  expect(requestOf({ ...own, sheet: { ...sheet, down: "x" } }, select)).toBeNull();
  expect(requestOf({ ...own, sheet: { ...sheet, rows: null } }, select)).toBeNull();
  expect(stockOf({ ...own, format: "zpl" }).sheet).toBeNull();
});

test("a sheet that is saved again replaces the one of its name", () => {
  const named = (name: string, rows: number) => ({ ...usual.sheet, name, rows });
  const saved = withSheet(withSheet([], named("Wine", 5)), named("Boxes", 2));
  expect(saved.map(({ name }) => name)).toEqual(["Boxes", "Wine"]);
  const again = withSheet(saved, named(" Wine ", 6));
  expect(again.map(({ name, rows }) => [name, rows])).toEqual([
    ["Boxes", 2],
    ["Wine", 6],
  ]);
});
