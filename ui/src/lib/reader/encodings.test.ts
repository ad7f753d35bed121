import { expect, test } from "vitest";
import type { EncodingProgress } from "../shell/desktop";
import type { EncodingReason } from "../api/types";
import { encodingReasons, outcomeOf, rowWords, workingWords } from "./encodings";

const progress: EncodingProgress = {
  reader: "A",
  insertion: 1,
  id: 12,
  state: "writing",
  reason: null,
  refusal: null,
  result: null,
  step: { at: 14, of: 33 },
  doing: null,
  log: [],
};

test("an inlay is called good only once its tap was verified", () => {
  for (const state of ["planned", "writing", "keyed", "sealing", "sealed", "interrupted"] as const) {
    expect(outcomeOf({ ...progress, state }).tone).toBe("again");
  }
  const result = { tag_id: 41, slug: "k3v9qa", url: "https://a.example/t/k3v9qa", counter: 1 };
  expect(outcomeOf({ ...progress, state: "verified", result })).toMatchObject({ tone: "good", title: "Encoded" });
  expect(outcomeOf({ ...progress, state: "reset" })).toMatchObject({ tone: "good", title: "Wiped" });
});

test("every reason has a title, a sentence and a way out", () => {
  for (const [reason, { title, text }] of Object.entries(encodingReasons)) {
    expect(title.length, reason).toBeLessThan(20);
    expect(text.split(". ").length, reason).toBeGreaterThan(1);
  }
  expect(outcomeOf({ ...progress, state: "rejected", reason: "not_genuine" }).tone).toBe("alarm");
  expect(outcomeOf({ ...progress, state: "interrupted", reason: "delayed" }).tone).toBe("again");
});

test("what cannot be repeated is never shown as something to repeat", () => {
  for (const reason of Object.keys(encodingReasons) as EncodingReason[]) {
    const { tone, text } = outcomeOf({ ...progress, state: "rejected", reason });
    expect(tone, reason).not.toBe("again");
    expect(text.split(". ").length, reason).toBeGreaterThan(1);
  }
  const refusal = "The encoding run has no tag left.";
  expect(outcomeOf({ ...progress, state: "planned", refusal })).toMatchObject({ tone: "bad", title: "Refused", text: refusal });
  expect(rowWords({ state: "rejected", reason: "delayed" }).tone).toBe("bad");
  expect(rowWords({ state: "interrupted", reason: "delayed" }).tone).toBe("again");
});

test("a chip that delays is to be left on the reader", () => {
  expect(workingWords({ ...progress, reason: "delayed" })).toContain("delays");
  expect(workingWords(progress)).toBe("Leave the inlay on the reader.");
});
