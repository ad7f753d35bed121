import { expect, test } from "vitest";
import { countryWords, languageWords, scanWords } from "./visit";

test("a scan says how it was made, and by which system if that is known", () => {
  expect(scanWords({ tech: "n", system: "android" })).toBe("NFC · Android");
  expect(scanWords({ tech: "q", system: "ios" })).toBe("QR code · iOS");
  expect(scanWords({ tech: "u", system: "other" })).toBe("Link");
  expect(scanWords({ tech: "n", system: null })).toBe("NFC");
});

test("countries and languages have names, and what is no code stays as it is", () => {
  expect(countryWords("DE")).toBe("Germany");
  expect(countryWords("T1")).toBe("T1");
  expect(languageWords("ja")).toBe("Japanese");
  // The service takes it, and the browser throws an error.
  expect(languageWords("de-1")).toBe("de-1");
});
