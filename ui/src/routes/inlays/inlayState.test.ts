import { expect, test } from "vitest";
import { stateOf } from "./inlayState";

test("what keeps an inlay's taps from being verified is said first", () => {
  const inlay = { blocked: false, used_up: false, factory_keys: false, bureau_keys: false, tag_id: 7 };
  expect(stateOf(inlay)).toEqual({ words: "in use", tone: "on" });
  expect(stateOf({ ...inlay, tag_id: null })).toEqual({ words: "not in use", tone: "off" });
  expect(stateOf({ ...inlay, factory_keys: true, tag_id: null }).words).toBe("factory keys");
  expect(stateOf({ ...inlay, factory_keys: true, used_up: true }).words).toBe("used up");
  expect(stateOf({ ...inlay, blocked: true, used_up: true, bureau_keys: true }).words).toBe("blocked");
});
