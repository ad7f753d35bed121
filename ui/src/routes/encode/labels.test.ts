import { expect, test } from "vitest";
import type { EncodingRunRow } from "../../lib/api/types";
import { labelsOf, labelSize, pageRule } from "./labels";

const row = (position: number | null, more: Partial<EncodingRunRow> = {}): EncodingRunRow => ({
  position,
  tag_id: 41,
  slug: `slug${position}`,
  name: `Lamp ${position}`,
  encoding_id: 100 - (position ?? 0),
  uid: "04D00000000180",
  technology: "ntag424dna",
  mode: "aes",
  state: "verified",
  reason: null,
  generation: 1,
  counter: 1,
  at: "2026-01-01T12:00:00Z",
  ...more,
});

test("labels hold tag URLs, in the order of their positions, for finished inlays alone", () => {
  const rows = [
    row(3),
    row(10),
    row(1),
    row(2, { state: "rejected", reason: "foreign_key" }),
    row(4, { slug: null, tag_id: null }),
    row(5, { state: "reset" }),
  ];
  const labels = labelsOf(rows, "https://tags.example.com/t");
  expect(labels.map(({ position, name, url }) => [position, name, url])).toEqual([
    [1, "Lamp 1", "https://tags.example.com/t/slug1"],
    [3, "Lamp 3", "https://tags.example.com/t/slug3"],
    [10, "Lamp 10", "https://tags.example.com/t/slug10"],
  ]);
  expect(rows.map(({ position }) => position)).toEqual([3, 10, 1, 2, 4, 5]);
});

test("a label of a roll is a page of its own size", () => {
  expect(pageRule(labelSize("50x30"))).toBe("@page { size: 50mm 30mm; margin: 0; }");
  expect(pageRule(labelSize("a size that is gone"))).toContain("size: auto");
});
