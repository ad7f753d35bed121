import { expect, test } from "vitest";
import { fileName, perSheet, requestOf, rolls, sheets, stockOf, stocksOf, usual } from "./labels";

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
  expect(fileName("svg")).toBe("labels.zip");
  expect(fileName("zpl")).toBe("labels.zpl");
});
