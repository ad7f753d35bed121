import { expect, test } from "vitest";
import { singleKeys } from "./singleKeys.svelte";
import { withKey } from "./withKey";

test("a tooltip has the key of its action, unless it is turned off", () => {
  expect(withKey("New tag", "n")).toBe("New tag (n)");
  expect(withKey("Undo", "Ctrl Z")).toBe("Undo (Ctrl Z)");
  singleKeys.on = false;
  expect([withKey("New tag", "n"), withKey("Undo", "Ctrl Z")]).toEqual(["New tag", "Undo (Ctrl Z)"]);
  singleKeys.on = true;
});
