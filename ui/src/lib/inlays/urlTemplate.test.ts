import { describe, expect, it } from "vitest";
import { exampleUrl, findsBy, hostOf, isFixed, partsOf, pathOf, placeIn, used, type Settings } from "./urlTemplate";
import "./knownChips";

const bottles: Settings = {
  template: "https://tags.example.com/v?picc_data={picc}&enc={enc}&cmac={mac}",
  technology: "ntag424dna",
  mode: "aes",
  mac_from: "enc",
  enc_length: 32,
  ndef_prefix: null,
};

describe("a URL template", () => {
  it("is taken apart without losing a character", () => {
    for (const text of [bottles.template, "https://x.example/{slug}/{picc}{mac}", "a{{b}}c{", "{uid", "{nothing}", "", "}{", "{{}}"]) {
      expect(
        partsOf(text)
          .map((part) => part.text)
          .join(""),
      ).toBe(text);
    }
  });

  it("has placeholders, and marks what only looks like one", () => {
    expect(partsOf("https://x.example/{slug}?{nope}{")).toEqual([
      { kind: "text", text: "https://x.example/" },
      { kind: "placeholder", text: "{slug}", name: "slug" },
      { kind: "text", text: "?" },
      { kind: "wrong", text: "{nope}" },
      { kind: "wrong", text: "{" },
    ]);
    expect(used("{uid}x{counter}x{uid}")).toEqual(["uid", "counter"]);
  });

  it("has an example of the lengths that the chip writes", () => {
    const length = (settings: Settings, name: string) => exampleUrl(settings).find((part) => part.name === name)?.text.length;
    expect(length(bottles, "picc")).toBe(32);
    expect(length({ ...bottles, mode: "lrp" }, "picc")).toBe(48);
    expect(length({ ...bottles, enc_length: 64 }, "enc")).toBe(64);
    expect(length({ ...bottles, template: "https://x.example/{slug}?m={uid}x{counter}x{mac}", technology: "sic43nt" }, "counter")).toBe(8);
  });

  it("has an example of what each chip writes for a closed loop", () => {
    const tamper = (technology: Settings["technology"]) =>
      exampleUrl({ ...bottles, template: "https://x.example/{slug}?t={tamper}", technology }).find((part) => part.name === "tamper")?.text;
    expect(tamper("ntag424dna_tt")).toBe("CC");
    expect(tamper("ntag224dna")).toBe("CC00000000");
    expect(tamper("sic43nt")).toBe("00");
    expect(tamper("ntag213tt")).toBe("00000000");
  });

  it("shows what the MAC covers: from where its input begins, to the MAC", () => {
    const covered = (settings: Settings) =>
      exampleUrl(settings)
        .filter((part) => part.covered)
        .map((part) => part.name ?? part.text);
    expect(covered(bottles)).toEqual(["enc", "&cmac="]);
    expect(covered({ ...bottles, mac_from: "none" })).toEqual([]);
    expect(covered({ ...bottles, mac_from: "picc" })).toEqual(["picc", "&enc=", "enc", "&cmac="]);
    // AN12196 counts bytes of the file: 7 before the URL, which do not include https://.
    expect(covered({ ...bottles, mac_from: { offset: 7 + "tags.example.com/v?picc_data=".length } })).toEqual([
      "picc",
      "&enc=",
      "enc",
      "&cmac=",
    ]);
    expect(covered({ ...bottles, mac_from: { offset: 7 + "tags.".length } })).toEqual([
      "example.com/v?picc_data=",
      "picc",
      "&enc=",
      "enc",
      "&cmac=",
    ]);
    expect(covered({ ...bottles, ndef_prefix: 0, mac_from: { offset: 7 } })[0]).toBe("https://tags.example.com/v?picc_data=");
  });

  it("names its host, and the path that all its URLs begin with", () => {
    expect(hostOf("https://Tags.example.com:8443/v")).toBe("tags.example.com");
    expect(hostOf("lnurlw://pay.example/{*}")).toBe("pay.example");
    expect(hostOf("http://[2001:DB8::1]:8080/v")).toBe("[2001:db8::1]");
    expect(pathOf("https://x.example/a/b/{slug}?m={mac}")).toBe("/a/b/");
    expect(pathOf("https://x.example/v?m={mac}")).toBe("/");
    expect(pathOf("https://x.example")).toBe("/");
  });

  it("is fixed if chips write nothing into its URLs", () => {
    expect(isFixed("https://x.example/{slug}")).toBe(true);
    expect(isFixed("https://x.example/{slug}?from={*}")).toBe(true);
    expect(isFixed("https://x.example/{slug}?m={uid}")).toBe(false);
    expect(isFixed(bottles.template)).toBe(false);
  });

  it("leads to its tag by the slug, the UID, or a meta key", () => {
    expect(findsBy("https://x.example/{slug}?{uid}")).toBe("slug");
    expect(findsBy("https://x.example/?m={uid}x{mac}")).toBe("uid");
    expect(findsBy(bottles.template)).toBe("meta_key");
  });
});

it("the place in a refusal is counted from 0", () => {
  expect(placeIn("Character 27: a brace has no partner.")).toBe(26);
  expect(placeIn("{mac} is missing: without a MAC nothing can be verified.")).toBe(null);
  expect(placeIn(null)).toBe(null);
});
