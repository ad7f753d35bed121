import { describe, expect, test } from "vitest";
import { choiceOf, groups, ownChoices, propertyOf } from "./choices";
import { meaningsOf } from "./headings";

const guessed = (...headings: string[]) => meaningsOf(headings.map((heading) => ({ heading, cells: [] })));

describe("headings", () => {
  test.each([
    [["Bezeichnung", "Seriennummer", "Beschreibung", "Sprache", "Größe", "Charge"], "data:Gr_e", "attribute:Charge"],
    [["Désignation", "Numéro de série", "Descriptif", "Langue", "TAILLE", "Lot"], "data:TAILLE", "attribute:Lot"],
    [["Nombre del producto", "N.º de serie", "Descripción", "Idioma", "Tamaño", "Lote"], "data:Tama_o", "attribute:Lote"],
  ])("%s are understood", (headings, size, batch) => {
    expect(guessed(...headings)).toEqual(["name", "attribute:serial_number", "description", "language_code", size, batch]);
  });

  test("what nobody knows is not imported", () => {
    expect(guessed("Interne Notiz", "")).toEqual(["", ""]);
  });

  test("the service's suggestions come first, and a column is used once", () => {
    const headings = [
      { heading: "Nom", cells: [] },
      { heading: "label", column: "name", cells: [] },
      { heading: "Titel", cells: [] },
      { heading: "Titre", cells: [] },
    ];
    expect(meaningsOf(headings)).toEqual(["", "name", "title", ""]);
  });

  test("a serial number is of the chip if its values are UIDs, and else of the thing", () => {
    const column = (...cells: string[]) => meaningsOf([{ heading: "Serial number", column: "uid", cells }]);
    expect(column("04:A1:B2:C3:D4:E5:F0", "04A1B2C3D4E5F1")).toEqual(["uid"]);
    expect(column("SN-0001", "SN-0002")).toEqual(["attribute:serial_number"]);
    expect(meaningsOf([{ heading: "uid", column: "uid", cells: ["4.11E+12"] }])).toEqual(["uid"]);
    // The service suggests a column only once, for the first of the two.
    const both = [
      { heading: "Serial number", column: "uid", cells: ["LH-1"] },
      { heading: "UID", column: null, cells: ["04A1B2C3D4E5F0"] },
    ];
    expect(meaningsOf(both)).toEqual(["attribute:serial_number", "uid"]);
  });
});

describe("choices", () => {
  test("each has a name and a line about it, once", () => {
    const all = groups.flatMap(({ choices }) => choices);
    expect(new Set(all.map(({ value }) => value)).size).toBe(all.length);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(all.every(({ about }) => about.endsWith("."))).toBe(true);
  });

  test("a property of one's own is named by its heading", () => {
    expect(propertyOf(" Colour of the cap ")).toBe("Colour_of_the_cap");
    expect(ownChoices("cap").map(({ value }) => value)).toEqual(["attribute:cap", "data:cap", "variable:cap"]);
    expect(ownChoices("serial_number").map(({ value }) => value)).toEqual(["data:serial_number", "variable:serial_number"]);
    expect(choiceOf("variable:owner")?.name).toBe("“owner”, visitors can change it");
    expect(choiceOf("uid")?.name).toBe("UID of the chip");
    expect(choiceOf("")).toBeNull();
  });
});
