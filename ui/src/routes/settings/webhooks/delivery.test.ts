import { expect, test } from "vitest";
import { deliveryWords } from "./delivery";

const now = Date.parse("2026-11-21T12:00:00Z");
const stands = { enabled: true, disabled: null, failing_since: null, waiting: 0 };
const delivered = { at: "2026-11-21T11:57:00Z", error: null };
const words = (changes: Partial<Parameters<typeof deliveryWords>[0]>, last: Parameters<typeof deliveryWords>[1] = delivered) =>
  deliveryWords({ ...stands, ...changes }, last, now);

test("an endpoint delivers, or has nothing to show of it yet", () => {
  expect(words({})).toEqual({ text: "Delivered 3 min. ago", title: "Last attempt 3 min. ago: delivered", tone: "good" });
  expect(words({}, { ...delivered, error: "No answer." })).toMatchObject({ text: "Failed 3 min. ago", tone: "bad" });
  expect(words({}, null)).toEqual({ text: "Nothing sent yet", title: "", tone: "soft" });
  expect(deliveryWords(stands, undefined, now)).toEqual({ text: "On", title: "", tone: "soft" });
});

test("what waits is counted, whether it fails or not", () => {
  expect(words({ waiting: 1_204 }).text).toBe("1,204 waiting");
  const failing = words({ waiting: 12, failing_since: "2026-11-21T09:00:00Z" });
  expect([failing.text, failing.tone]).toEqual(["Failing for 3 h, 12 waiting", "bad"]);
  expect(failing.title).toContain("Since 21 Nov 2026");
});

test("a switched off one says why, if its owner did not do it", () => {
  expect(words({ enabled: false }).text).toBe("Switched off");
  expect(words({ enabled: false, disabled: "gone", failing_since: "2026-11-21T09:00:00Z" }).text).toBe("Switched off: gone (410)");
});
