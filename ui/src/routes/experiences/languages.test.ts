import { describe, expect, it } from "vitest";
import { ofWindow, ownName } from "./languages";

describe("languages of templates", () => {
  it("are preset to that of the window, or English if it has none", () => {
    expect(["de-AT", "ja", "C", ""].map((one) => ofWindow(one))).toEqual(["de-AT", "ja", "en", "en"]);
  });

  it("have their own names", () => {
    expect(["de", "fr", "pl", "ar", "ja"].map(ownName)).toEqual(["Deutsch", "Français", "Polski", "العربية", "日本語"]);
  });
});
