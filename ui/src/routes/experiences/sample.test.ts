import { expect, test } from "vitest";
import { sampleTag } from "./sample";

test("a sample tag has a value for each macro of the content", () => {
  const blocks = [{ type: "heading", text: '{{tag:title}} {{ tag:attribute:sku || "x" }} {{tag:data:made_in}}' }];
  expect(sampleTag({ kind: "studio", blocks })).toEqual({
    name: "Sample product",
    title: "Sample product",
    attributes: { sku: "SKU-1041" },
    data: { made_in: "Made in" },
  });
});
