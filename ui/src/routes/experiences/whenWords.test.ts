import { expect, test } from "vitest";
import { newWhen, whenTypes } from "./content";
import { sentence } from "./whenWords";

test("each condition is a sentence that follows an If", () => {
  for (const [type] of whenTypes) expect(sentence(newWhen(type)), type).toMatch(/^(the|it|registered) \S+/);
  expect(sentence({ type: "variable_equals", variable: "registered", value: "true" })).toBe("the tag is registered");
  expect(sentence({ type: "variable_filled", variable: "owner_email" })).toBe("owner email is filled in");
  expect(sentence({ type: "verification", any_of: ["not_verified", "not_checked"] })).toBe("the tap is not verified or not checked");
  expect(sentence({ type: "scan_count", at_least: 2, at_most: 9 })).toBe("the tag was tapped at least 2 times and at most 9 times");
  expect(sentence({ type: "country", any_of: ["DE", "AT", "CH"] })).toBe("the visitor is in Germany, Austria or Switzerland");
});

test("a condition that is only half typed is a sentence, too", () => {
  expect(sentence({ type: "country", any_of: ["D"] })).toBe("the visitor is in D");
  expect(sentence({ type: "group", any_of: [] })).toBe("the tag is in …");
  expect(sentence({ type: "group", any_of: [3, 7] })).toBe("the tag is in Group 3 or Group 7");
  expect(sentence({ type: "language", any_of: [] })).toBe("the language is …");
  expect(sentence({ type: "scan_count" })).toBe("the tag was tapped …");
});
