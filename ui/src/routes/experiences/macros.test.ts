import { describe, expect, it } from "vitest";
import { complete, insert } from "./macros";

describe("macro completion", () => {
  it("offers what begins like the text inside open braces", () => {
    const text = "https://example.com/?t={{ tag:na";
    const found = complete(text, text.length);
    expect(found?.options.map(([name]) => name)).toEqual(["tag:name"]);
    expect(insert(text, text.length, found!.from, "tag:name").text).toBe("https://example.com/?t={{ tag:name }}");
  });

  it("says nothing outside of braces", () => {
    expect(complete("https://example.com/?tag:na", 27)).toBeNull();
    expect(complete("{{ tag:id }} tag", 16)).toBeNull();
  });

  it("leaves the cursor before the braces if the macro needs a key", () => {
    const { text, cursor } = insert("{{ tag:var", 10, 3, "tag:variable:");
    expect(text).toBe("{{ tag:variable: }}");
    expect(text.slice(0, cursor)).toBe("{{ tag:variable:");
  });

  it("does not double braces that are there already", () => {
    expect(insert("{{ ta }}", 5, 3, "tag:id").text).toBe("{{ tag:id}}");
  });
});
