import { expect, test } from "vitest";
import type { PageText } from "../../../lib/api/types";
import { contrast } from "../../../lib/ui/contrast";
import { defaults, GROUND, kinds, languages, readable, valueOf, withText } from "./pages";

test("every page has a default text in each language of the service", () => {
  expect(languages).toHaveLength(12);
  for (const { page } of kinds) {
    for (const language of languages) expect(defaults(page, language).text).not.toBe("");
  }
  expect(defaults("recalled", "de-AT").text).toContain("zurückgerufen");
  expect(defaults("not_found", "sv").heading).toBe("Unknown tag");
});

test("a text is added, changed and left out once it is empty", () => {
  const other: PageText = { page: "home", language: "de", heading: "Hallo", text: null };
  const added = withText([other], "home", "en", { text: "Hello" });
  expect(added).toEqual([other, { page: "home", language: "en", heading: null, text: "Hello" }]);
  const changed = withText(added, "home", "en", { heading: "Hi", text: null });
  expect(changed[1]).toEqual({ page: "home", language: "en", heading: "Hi", text: null });
  expect(withText(changed, "home", "en", { heading: null })).toEqual([other]);
  expect(withText([other], "recalled", "en", { text: null })).toEqual([other]);
});

test("an empty field restores the default", () => {
  expect(valueOf({ name: "", home_url: "https://a.example", texts: [] })).toEqual({ name: null, home_url: "https://a.example", texts: [] });
});

test("a colour is shown in a shade that can be read", () => {
  expect(readable("#1f4fd8")).toBe("#1f4fd8");
  for (const colour of ["#ffff00", "#ffffff", "#9fe0a0"]) {
    expect(contrast(readable(colour), GROUND)).toBeGreaterThanOrEqual(4.5);
  }
});
