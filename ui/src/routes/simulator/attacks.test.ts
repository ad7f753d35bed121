import { expect, test } from "vitest";
import { asExpected, attacks } from "./attacks";

const named = (name: string) => attacks.find((one) => one.name === name)!;
const outcome = (more: object) => ({ action: { do: "tap" } as const, text: "", ...more });

test("an attack that the service withstands came as expected, and one that succeeds did not", () => {
  expect(asExpected(named("Replay"), outcome({ verified: false }))).toBe(true);
  expect(asExpected(named("Replay"), outcome({ verified: true }))).toBe(false);
  // A tag without a verifier resists no attack.
  expect(asExpected(named("Replay"), outcome({ verified: null }))).toBe(false);
  expect(asExpected(named("Double update"), outcome({ failed: true }))).toBe(true);
  expect(asExpected(named("Double update"), outcome({ failed: false }))).toBe(false);
  expect(asExpected(named("Link preview"), outcome({ verified: true }))).toBe(true);
});

test("each attack has a name of its own", () => {
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(9);
});
