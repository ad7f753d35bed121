import { describe, expect, it } from "vitest";
import { decoded, formatCsv, guess, parseCsv, parseFile } from "./csv";

describe("a CSV file", () => {
  it("may quote separators, quotes and line breaks", () => {
    const table = parseCsv('name,title\r\n"a ""b"", c","two\nlines"\r\n');
    expect(table.rows).toEqual([['a "b", c', "two\nlines"]]);
  });

  it("may begin with a byte order mark and use semicolons", () => {
    const table = parseCsv("\uFEFFname;slug\nBottle;k3v9qa");
    expect(table.header).toEqual(["name", "slug"]);
    expect(table.rows).toEqual([["Bottle", "k3v9qa"]]);
  });

  it("is the same after it was written and read", () => {
    const rows = [
      ["=1+1", 'q"q'],
      ["", "x;y"],
    ];
    expect(parseCsv(formatCsv(["a", "b"], rows)).rows).toEqual(rows);
  });
});

describe("a file", () => {
  const text = "name\tslug\nGästebuch\tgaeste-01\n";
  const utf16 = (big: boolean) => {
    const bytes = new Uint8Array(2 + text.length * 2);
    const view = new DataView(bytes.buffer);
    for (const [index, sign] of [...`\uFEFF${text}`].entries()) view.setUint16(index * 2, sign.charCodeAt(0), !big);
    return bytes;
  };
  const latin = Uint8Array.from(text, (sign) => sign.charCodeAt(0));

  it.each([
    ["UTF-8", new TextEncoder().encode(text)],
    ["UTF-8 with its mark", new TextEncoder().encode(`\uFEFF${text}`)],
    ["UTF-16, as Excel's Unicode text", utf16(false)],
    ["UTF-16, big end first", utf16(true)],
    ["Windows-1252, as Excel's CSV", latin],
  ])("with tabs is read in %s", async (_, bytes) => {
    const table = await parseFile(new Blob([bytes]));
    expect(table).toMatchObject({ header: ["name", "slug"], rows: [["Gästebuch", "gaeste-01"]], separator: "\t" });
  });

  it("that is empty has no rows", async () => {
    expect(await parseFile(new Blob([]))).toMatchObject({ header: [], rows: [] });
    expect(decoded(new ArrayBuffer(1))).toBe("\0");
  });

  it("of many pieces is the same as in one, with its empty lines counted, and does not block", async () => {
    const lines = Array.from({ length: 60_000 }, (_, row) => (row % 1_000 === 999 ? "" : `Bottle ${row};"red; or ""blue""\nor both"`));
    const whole = ["name;colour", ...lines].join("\n");
    expect(whole.length).toBeGreaterThan(2_000_000);
    let turns = 0;
    const timer = setInterval(() => turns++);
    const table = await parseFile(new Blob([whole]));
    clearInterval(timer);
    const once = parseCsv(whole);
    expect(table.rows.length).toBe(60_000 - 60);
    expect(table.rows.at(-1)).toEqual(once.rows.at(-1));
    expect(table.numbers).toEqual(once.numbers);
    expect(table.numbers.slice(997, 1001)).toEqual([999, 1000, 1002, 1003]);
    // Something else ran between its pieces.
    expect(turns).toBeGreaterThan(0);
  });
});

describe("a column's name", () => {
  it("is recognised in its usual spellings", () => {
    expect(guess("Name")).toBe("name");
    expect(guess("Language code")).toBe("language_code");
    expect(guess("Experience")).toBe("experience");
    expect(guess("experience_id")).toBe("experience_id");
    expect(guess("variable:registered")).toBe("variable:registered");
    expect(guess("Colour of the cap")).toBe("");
  });
});
