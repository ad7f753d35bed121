import { expect, it } from "vitest";
import { formatCsv } from "./csv";

it("a table quotes every cell", () => {
  expect(
    formatCsv(
      ["a", "b"],
      [
        ["=1+1", 'q"q'],
        ["", "x;y"],
      ],
    ),
  ).toBe('"a","b"\r\n"=1+1","q""q"\r\n"","x;y"');
});
