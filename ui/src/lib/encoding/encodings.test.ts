import { expect, test } from "vitest";
import type { EncodingProgress } from "../shell/desktop";
import type { EncodingAddress, EncodingReason } from "../api/types";
import { encodingReasons, outcomeOf, rowWords, workingWords } from "./encodings";
import "../inlays/knownChips";

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

test("a finished encoding names the address, and says whether it was opened", () => {
  const result = { tag_id: 41, slug: "k3v9qa", url: "https://a.example/t/k3v9qa", counter: 1 };
  const ended = (address: EncodingAddress | null) => {
    const { tone, text } = outcomeOf({ ...progress, state: "verified", result }, undefined, address);
    return [tone, text];
  };
  const tag_url = "https://a.example/t";
  expect(ended({ tag_url, opened: true, reason: null })).toEqual([
    "good",
    "A tap of it was verified, counter 1, and https://a.example/t was opened.",
  ]);
  expect(ended({ tag_url, opened: false, reason: "dns" })).toEqual([
    "warn",
    "The chip is right, but https://a.example/t did not open: the host name has no address.",
  ]);
  const local = "http://127.0.0.1:8787/t";
  expect(ended({ tag_url: local, opened: false, reason: "loopback" })).toEqual([
    "good",
    "A tap of it was verified, counter 1. http://127.0.0.1:8787/t works only on this computer.",
  ]);
  expect(ended(null)).toEqual(["good", "A tap of it was verified, counter 1. Its address was not opened."]);
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

test("a wrong chip is named, and the chip that the URL is for", () => {
  const wrong = { ...progress, state: "rejected" as const, reason: "not_encodable" as const };
  expect(outcomeOf(wrong, { found: "ntag213", wanted: "ntag424dna" }).text).toBe(
    "This is an NTAG213. The URL is for an NTAG 424 DNA. Use another inlay.",
  );
  expect(outcomeOf(wrong, { found: "ultralight", wanted: "ntag215" }).text).toBe(
    "This is a MIFARE Ultralight. The URL is for an NTAG215. Use another inlay.",
  );
  expect(outcomeOf(wrong, { found: "other_type2", wanted: "ntag424dna" }).text).toContain("This is another Type 2 tag.");
  // If the right chip cannot be written, or the chip was not read, only the reason is known.
  expect(outcomeOf(wrong, { found: "ntag424dna", wanted: "ntag424dna" }).text).toBe(encodingReasons.not_encodable.text);
  expect(outcomeOf(wrong).text).toBe(encodingReasons.not_encodable.text);
});

test("a chip that delays is to be left on the reader", () => {
  expect(workingWords({ ...progress, reason: "delayed" })).toContain("delays");
  expect(workingWords(progress)).toBe("Leave the inlay on the reader.");
});
