import Papa from "papaparse";
import { describe, expect, it } from "vitest";
import type { Tag } from "../../lib/api/types";
import { encode } from "./encoding";
import { encodingCsv } from "./encodingCsv";

const tag = (name: string, slug: string) => ({ name, slug }) as Tag;

describe("the encoding sheet of many tags", () => {
  it("has a row for each, with what its own sheet says", () => {
    const tags = [tag("Bottle, 41", "k3v9qa"), tag("Bottle 42", "x0y1z2")];
    const file = encodingCsv(tags, "https://tags.example.com/t", "plain", "uid");
    const [header, ...rows] = Papa.parse<string[]>(file).data;
    expect(header).toEqual([
      "name",
      "slug",
      "url",
      "ndef_file",
      "UIDOffset",
      "SDMReadCtrOffset",
      "SDMMACInputOffset",
      "SDMMACOffset",
      "change_file_settings",
    ]);
    const sheet = encode("https://tags.example.com/t", "x0y1z2", "plain", "uid");
    expect(rows[0]?.[0]).toBe("Bottle, 41");
    expect(rows[1]).toEqual([
      "Bottle 42",
      "x0y1z2",
      sheet.url,
      sheet.ndef,
      ...sheet.offsets.map(({ value }) => String(value)),
      sheet.settings,
    ]);
  });
});
