import { describe, expect, it } from "vitest";
import { formatCsv, guess, parseCsv } from "./csv";

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
    const rows = [["=1+1", 'q"q'], ["", "x;y"]];
    expect(parseCsv(formatCsv(["a", "b"], rows)).rows).toEqual(rows);
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
