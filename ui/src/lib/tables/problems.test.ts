import { describe, expect, it } from "vitest";
import type { TagImportRow } from "../api/types";
import { problemsOf, rowsInWords } from "./problems";

const row = (fields: object) => fields as TagImportRow;

describe("The problems of an import", () => {
  it("are grouped and counted, the refused rows and the most frequent first", () => {
    const results = [
      row({ row: 2, outcome: "updated", id: 1, warning: "The experience does not exist." }),
      row({ row: 3, outcome: "refused", reason: "A tag needs a name." }),
      row({ row: 4, outcome: "refused", reason: "The slug is taken." }),
      row({ row: 5, outcome: "created", id: 2 }),
      row({ row: 6, outcome: "refused", reason: "The slug is taken." }),
      row({ row: 7, outcome: "updated", id: 3, deleted: ["data:colour"], warning: "The experience does not exist." }),
    ];
    expect(problemsOf(results)).toEqual([
      { kind: "refused", text: "The slug is taken.", rows: [4, 6] },
      { kind: "refused", text: "A tag needs a name.", rows: [3] },
      { kind: "deletes", text: "Deletes data:colour.", rows: [7] },
      { kind: "warning", text: "The experience does not exist.", rows: [2, 7] },
    ]);
  });

  it("name the columns as the file does", () => {
    const slug = { column: "slug", heading: "Seriennummer" };
    const results = [
      row({ row: 2, outcome: "refused", reason: "The slug is taken.", columns: [slug] }),
      row({ row: 3, outcome: "refused", reason: "A tag needs a name.", columns: [{ column: "name", heading: "name" }] }),
      row({ row: 4, outcome: "created", warning: "Guessed. No page.", columns: [slug, { column: "experience", heading: "Seite" }] }),
    ];
    expect(problemsOf(results).map(({ text }) => text)).toEqual([
      "Column “Seriennummer”: The slug is taken.",
      "A tag needs a name.",
      "Columns “Seriennummer”, “Seite”: Guessed. No page.",
    ]);
  });

  it("name the first of their rows", () => {
    expect(rowsInWords([7])).toBe("Row 7");
    expect(rowsInWords([4, 6])).toBe("Rows 4 and 6");
    expect(rowsInWords([1, 2, 3, 4, 5, 6, 7, 8])).toBe("Rows 1, 2, 3, 4, 5, 6 and 2 more");
  });
});
