import { describe, expect, it } from "vitest";
import service from "../../../service/data/words.json";
import { templates } from "../routes/settings/kiosk/templates";
import { closing, languageOf, languages, noticeIn, offered, ownersWords, wordsOf } from "./words";

describe("The words of the kiosk", () => {
  it("are there in every language of the pages that it shows", () => {
    expect(languages).toEqual(Object.keys(service));
    for (const language of languages) {
      expect(Object.keys(wordsOf(language))).toEqual(Object.keys(wordsOf("en")));
      const texts = Object.values(wordsOf(language)).flatMap((text) => (typeof text === "string" ? [text] : Object.values(text)));
      for (const text of texts) expect(text.trim()).not.toBe("");
    }
  });

  it("contain no codes in a message to visitors", () => {
    for (const language of languages) {
      for (const notice of ["unread", "blank", "copied", "other_host", "other_group", "failed", "broke"] as const)
        expect(noticeIn(notice, language)).not.toMatch(/\d|error|http/i);
    }
  });

  it("are in the first language that there are words in", () => {
    expect(languageOf(["de-AT", "en"])).toBe("de");
    expect(languageOf(["tlh", "ja-JP", "en"])).toBe("ja");
    expect(languageOf(["tlh"])).toBe("en");
    expect(noticeIn("blank", "de")).toBe("Dieser Anhänger hat noch keinen Inhalt.");
  });

  it("are limited to the languages that the owner offers", () => {
    expect(offered([])).toEqual(languages);
    expect(offered(["fr", "tlh", "de"])).toEqual(["fr", "de"]);
    expect(languageOf(["ja", "de"], offered(["fr", "de"]))).toBe("de");
    expect(languageOf(["ja"], offered(["fr", "de"]))).toBe("fr");
    expect(languageOf(["ja"], offered(["fr", "en"]))).toBe("en");
  });

  it("leave the owner's own as they are", () => {
    const own = { heading: "Welcome to the winery", text: wordsOf("en").text };
    expect(ownersWords(own, "fr")).toEqual({ heading: "Welcome to the winery", text: wordsOf("fr").text });
  });

  it("of each template are in the visitor's language", () => {
    for (const template of Object.values(templates)) {
      const { heading, text } = ownersWords(template, "pl");
      expect([heading, text]).not.toContain(template.heading);
      expect([heading, text]).not.toContain(template.text);
    }
    expect(ownersWords({ heading: "Is it genuine?", text: "" }, "de")).toEqual({ heading: "Ist es echt?", text: "" });
  });

  it("say that a visit ends only in its last seconds", () => {
    expect(closing(16, "en")).toBe("");
    expect(closing(1, "en")).toBe("This page closes in 1 second");
    for (const language of languages) expect(closing(9, language)).toContain("9");
  });

  it("have the plural of each language", () => {
    expect(closing(1, "fr")).toBe("Cette page se ferme dans 1 seconde");
    expect(closing(2, "fr")).toBe("Cette page se ferme dans 2 secondes");
    expect([1, 3, 5].map((seconds) => closing(seconds, "pl").split(" ").at(-1))).toEqual(["sekundę", "sekundy", "sekund"]);
    expect(closing(2, "ar")).toBe("تُغلق هذه الصفحة بعد ثانيتين");
    expect(closing(1, "ja")).toBe("このページは1秒後に閉じます");
    for (const language of languages) {
      const rules = new Intl.PluralRules(language);
      // Each language that has a singular form has one here.
      if (rules.select(1) === "one") expect(wordsOf(language).closing.one, language).toBeDefined();
    }
  });
});
