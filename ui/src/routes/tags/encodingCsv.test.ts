import Papa from "papaparse";
import { expect, test } from "vitest";
import type { EncodingSheet } from "../../lib/api/types";
import { encodingCsv } from "./encodingCsv";

const sheetAt = (at: number) =>
  ({
    url: `https://tags.example.com/t/${at}`,
    bytes: "0054D1",
    mirrors: [
      { name: "uid", offset: at, length: 14 },
      { name: "counter", offset: at + 21, length: 6 },
      { name: "mac", offset: at + 27, length: 16 },
    ],
    mac_input: { offset: at, length: 27 },
    change_file_settings: { file: 2, data: "4000E0C1", meta_slot: null, file_slot: 2 },
  }) as EncodingSheet;

test("the encoding sheet of many tags has a row for each, with what its own sheet says", () => {
  const rows = [
    { tag: { name: "Bottle, 41", slug: "k3v9qa" }, sheet: sheetAt(40) },
    { tag: { name: "Bottle 42", slug: "x0y1z2" }, sheet: sheetAt(41) },
  ];
  const [header, first, second] = Papa.parse<string[]>(encodingCsv(rows)).data;
  expect(header).toEqual([
    ...["name", "slug", "url", "ndef_file"],
    ...["UIDOffset", "SDMReadCtrOffset", "SDMMACInputOffset", "SDMMACOffset"],
    "change_file_settings",
  ]);
  expect(first?.[0]).toBe("Bottle, 41");
  expect(second).toEqual(["Bottle 42", "x0y1z2", "https://tags.example.com/t/41", "0054D1", "41", "62", "41", "68", "4000E0C1"]);
});

test("encrypted UID and counter have one offset", () => {
  const sheet = { ...sheetAt(9), mirrors: [{ name: "picc", offset: 9, length: 32 }, ...sheetAt(9).mirrors.slice(-1)] };
  const [header] = Papa.parse<string[]>(encodingCsv([{ tag: { name: "Lamp", slug: "lamp" }, sheet }])).data;
  expect(header?.slice(4, -1)).toEqual(["PICCDataOffset", "SDMMACInputOffset", "SDMMACOffset"]);
});
