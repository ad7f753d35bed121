import { expect, it } from "vitest";
import { stateOf } from "./state";

it("says the state of an experience in words", () => {
  expect(stateOf({ published_version: null, draft: true })).toBe("Draft");
  expect(stateOf({ published_version: 3, draft: false })).toBe("Version 3");
  expect(stateOf({ published_version: 3, draft: true })).toBe("Version 3, edited");
});
