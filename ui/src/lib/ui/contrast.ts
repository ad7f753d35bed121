// The contrast of two colours by WCAG 2.2, and the readable text colour for a background.

/** Red, green and blue of "#rrggbb", from 0 to 1. */
function channels(colour: string): [number, number, number] {
  const at = (from: number) => Number.parseInt(colour.slice(from, from + 2), 16) / 255;
  return [at(1), at(3), at(5)];
}

/** Whether a text is a colour in the form "#rrggbb". */
export const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** The relative luminance, from 0 to 1: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(colour: string): number {
  const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = channels(colour);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** The contrast ratio of two colours, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/**
 * White or black, whichever is more readable on `ground`: at least 4.5 to 1 on every colour, as
 * required by AA.
 */
export const textOn = (ground: string): string => (contrast(ground, "#ffffff") >= contrast(ground, "#000000") ? "#ffffff" : "#000000");
