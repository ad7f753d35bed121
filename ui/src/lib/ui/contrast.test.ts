import { expect, test } from "vitest";
import { contrast, isColour, textOn } from "./contrast";

test("the contrast is that of the guideline", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  expect(contrast("#ffffff", "#777777")).toBe(contrast("#777777", "#ffffff"));
});

test("some text can be read on every colour", () => {
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  for (let red = 0; red < 256; red += 15) {
    for (let green = 0; green < 256; green += 15) {
      for (let blue = 0; blue < 256; blue += 15) {
        const ground = `#${hex(red)}${hex(green)}${hex(blue)}`;
        expect(contrast(ground, textOn(ground)), ground).toBeGreaterThanOrEqual(4.5);
      }
    }
  }
  expect([textOn("#7a0f3d"), textOn("#ffd34d")]).toEqual(["#ffffff", "#000000"]);
});

test("a colour has six hexadecimal digits", () => {
  expect(["#7A0f3d", "7a0f3d", "#fff", "red", "#7a0f3d; background: url(x)"].map(isColour)).toEqual([true, false, false, false, false]);
});
