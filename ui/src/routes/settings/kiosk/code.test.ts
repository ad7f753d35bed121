import { expect, test } from "vitest";
import { urlOfCode } from "./code";

test("a code with a path follows the address of the computer", () => {
  expect(urlOfCode("/t/k3v9qa", "http://192.0.2.7:8787")).toBe("http://192.0.2.7:8787/t/k3v9qa");
  expect(urlOfCode("/t/k3v9qa", null)).toBeNull();
  expect(urlOfCode("https://tags.example/t/k3v9qa", null)).toBe("https://tags.example/t/k3v9qa");
  expect(urlOfCode(null, "http://192.0.2.7:8787")).toBeNull();
});
