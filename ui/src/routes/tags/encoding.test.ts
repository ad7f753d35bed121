import { describe, expect, it } from "vitest";
import { encode, urlWarning } from "./encoding";

const at = (ndef: string, offset: number, length: number) => {
  const bytes = ndef.match(/../g)!.map((byte) => parseInt(byte, 16));
  return String.fromCharCode(...bytes.slice(offset, offset + length));
};
const offset = (encoding: ReturnType<typeof encode>, name: string) => encoding.offsets.find((one) => one.name === name)!.value;

describe("the encoding sheet", () => {
  for (const tagUrl of ["https://tags.example.com/t", "http://127.0.0.1:8787/t", "https://www.example.com/t"]) {
    it(`points at the placeholders of a plain mirror under ${tagUrl}`, () => {
      const sheet = encode(tagUrl, "k3v9qa", "plain", "none");
      expect(at(sheet.ndef, offset(sheet, "UIDOffset") - 4, 18)).toBe(`uid=${"0".repeat(14)}`);
      expect(at(sheet.ndef, offset(sheet, "SDMReadCtrOffset") - 6, 12)).toBe("token=000000");
      expect(offset(sheet, "SDMMACOffset")).toBe(offset(sheet, "SDMReadCtrOffset") + 6);
      expect(offset(sheet, "SDMMACInputOffset")).toBe(offset(sheet, "SDMMACOffset"));
    });

    it(`points at the placeholders of an encrypted mirror under ${tagUrl}`, () => {
      const sheet = encode(tagUrl, "k3v9qa", "encrypted", "uid");
      expect(at(sheet.ndef, offset(sheet, "PICCDataOffset") - 4, 36)).toBe(`uid=${"0".repeat(32)}`);
      expect(at(sheet.ndef, offset(sheet, "SDMMACOffset") - 6, 22)).toBe(`token=${"0".repeat(16)}`);
      expect(offset(sheet, "SDMMACInputOffset")).toBe(offset(sheet, "PICCDataOffset"));
    });
  }

  it("says its own length", () => {
    const sheet = encode("https://tags.example.com/t", "k3v9qa", "plain", "none");
    expect(parseInt(sheet.ndef.slice(0, 4), 16)).toBe(sheet.ndef.length / 2 - 2);
    expect(parseInt(sheet.ndef.slice(8, 10), 16)).toBe(sheet.ndef.length / 2 - 6);
  });

  it("lays out ChangeFileSettings as the published transcript does", () => {
    // AN12196 table 19: 40 00E0 C1 F121 200000 430000 430000
    const { settings } = encode("https://tags.example.com/t", "k3v9qa", "encrypted", "none");
    expect(settings).toMatch(/^4000E0C1FF12(..0000){3}$/);
  });
});

describe("a tag URL that should not be burnt into chips", () => {
  it.each([
    ["http://127.0.0.1:8787/t", /only on this computer/],
    ["http://192.168.1.20:8787/t", /only in this network/],
    ["http://tags.example.com/t", /not use https/],
    ["https://tags.example.com/t", null],
  ])("%s", (tagUrl, warning) => {
    if (warning) expect(urlWarning(tagUrl)).toMatch(warning);
    else expect(urlWarning(tagUrl)).toBeNull();
  });
});
