import { describe, expect, it } from "vitest";
import { hasMacros, inWords, pieces } from "./macroWords";

describe("a text with macros", () => {
  it("is read by the names of its macros, and stays as it is stored", () => {
    expect(inWords("{{tag:title || tag:name}}")).toBe("Tag title, or name");
    expect(inWords('Your {{ tag:data:warranty_years || "2" }} years')).toBe("Your Data warranty years, or “2” years");
    expect(inWords("{{ interaction:tech:name }}, {{device:country}}")).toBe("Scan method, Country");
    const text = 'A {{ tag:name }} b {{tag:attribute:sku || "a }} b \\" c"}}.';
    expect(
      pieces(text)
        .map(({ text: own }) => own)
        .join(""),
    ).toBe(text);
    expect(pieces(text).filter(({ label }) => label)).toHaveLength(2);
  });

  it("shows as text what the service reads as text, and what nothing can fill", () => {
    for (const text of ["\\{{ tag:name }}", "{{ tag:nmae }}", "{{ tag:name", "{{ tag:attribute: }}", "{{}}", "{{ tag:name | tag:title }}"])
      expect(hasMacros(text), text).toBe(false);
  });

  it("leaves a macro as text while somebody writes it", () => {
    const text = "{{ tag:attribute:s }}";
    expect(hasMacros(text, text.length - 3)).toBe(false);
    expect(hasMacros(text, text.length)).toBe(true);
  });
});
