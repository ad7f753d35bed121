import { expect, test } from "vitest";
import { title } from "./title.svelte";

test("the title has what was opened last, its screen, and the program", () => {
  expect(title.on("Tags")).toBe("Tags · Tapdesk");
  const close = title.add(() => "Bottle 41");
  const end = title.add(() => "");
  expect(title.on("Tags")).toBe("Bottle 41 · Tags · Tapdesk");
  close();
  end();
  expect(title.on("Overview")).toBe("Overview · Tapdesk");
});
