import { expect, it } from "vitest";
import { formatCsv, noteWords } from "./csv";

it("a table quotes every cell", () => {
  expect(
    formatCsv(
      ["a", "b"],
      [
        ["=1+1", 'q"q'],
        ["", "x;y"],
      ],
    ),
  ).toBe('"a","b"\r\n"=1+1","q""q"\r\n"","x;y"');
});

it("a note names the choices of the screen, and no parameters of the API", () => {
  const note = (end: string) => `"32403784" in row 2 is the slug "njaix4". To keep the numbers as slugs,${end}`;
  expect(noteWords(note(" import with preset=csv and map=mTAG ID:slug."))).toBe(
    note(" choose Plain CSV under “Exported by”, and import this column as the slug."),
  );
  expect(noteWords("The file was read as Windows-1252.")).toBe("The file was read as Windows-1252.");
});
