import { expect, test } from "vitest";
import { mirrorOf, partsOf, slugOf } from "./tapUrl";

const plain = "http://127.0.0.1:8787/t/k3v9qa?uid=04DE5F1EACC040&token=00003D94EED9EE65337086";
const encrypted = "https://example.com/t/k3v9qa?uid=EF963FF7828658A599F3041510671E88&token=94EED9EE65337086";

test("the plain mirror shows UID, counter and code", () => {
  expect(partsOf(plain).map((part) => part.text)).toEqual(["127.0.0.1:8787", "k3v9qa", "04DE5F1EACC040", "61", "94EED9EE65337086"]);
  expect(mirrorOf(plain)).toBe("plain");
});

test("the encrypted mirror hides UID and counter", () => {
  expect(mirrorOf(encrypted)).toBe("encrypted");
  expect(partsOf(encrypted).some((part) => part.name === "Counter")).toBe(false);
});

test("a static URL has a tag and no mirror, and any other text is shown as it is", () => {
  expect(slugOf("https://example.com/t/k3v9qa")).toBe("k3v9qa");
  expect(mirrorOf("https://example.com/t/k3v9qa")).toBe(null);
  expect(slugOf("https://example.com")).toBe(null);
  expect(partsOf("hello")).toEqual([{ name: "Text", text: "hello" }]);
  expect(partsOf("tel:+4912345")[0]?.text).toBe("tel:");
});

test("a code of another shape is called none", () => {
  const url = "https://example.com/t/k3v9qa?uid=04&token=1";
  expect(partsOf(url).at(-1)).toEqual({ name: "Malformed code", text: "04 1" });
  expect(mirrorOf(url)).toBe(null);
});
