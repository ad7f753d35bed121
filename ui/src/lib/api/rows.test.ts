import { expect, test } from "vitest";
import { RowCount } from "./rows";

test("rows are counted over pieces, and not the line ends within quotes", () => {
  const count = new RowCount();
  for (const piece of ['name,text\r\nBottle,"two\r\nli', 'nes, ""quoted"""\r\nLamp,', "one\r\n"])
    count.add(new TextEncoder().encode(piece));
  expect(count.rows).toBe(3);
});
