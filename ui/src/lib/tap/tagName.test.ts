import { expect, test } from "vitest";
import { tagName } from "./tagName";

test("a tag is called by its name, or by its number if its name is out of reach", () => {
  expect(tagName({ tag_id: 41, tag_name: "Bottle 41" })).toBe("Bottle 41");
  expect(tagName({ tag_id: 1041, tag_name: null })).toBe("Tag 1,041");
  expect(tagName({ tag_id: null, tag_name: null })).toBe("No tag");
});
