// Attacks and mishaps: each is a few steps of a run, with the expected result.

import type { Action, Outcome } from "./run";

const LIFETIME_MS = 300_000;
const register: Action = { do: "update", key: "registered", value: "true" };

/**
 * The required response of the service: whether the tap verifies, or that the request is refused.
 */
export type Expected = "verified" | "not verified" | "refused";

export interface Attack {
  name: string;
  /** The purpose of the attack, in one line. */
  tries: string;
  expected: Expected;
  steps: Action[];
}

export const groups: { name: string; attacks: Attack[] }[] = [
  {
    name: "With the URL of a tap",
    attacks: [
      { name: "Replay", tries: "Opens the same URL again.", expected: "not verified", steps: [{ do: "tap" }, { do: "replay" }] },
      { name: "Out of order", tries: "Opens an older URL after a newer one.", expected: "not verified", steps: [{ do: "out_of_order" }] },
      { name: "Altered code", tries: "Changes one digit of the code.", expected: "not verified", steps: [{ do: "tamper" }] },
      {
        name: "Another tag's code",
        tries: "Puts the code of another tag into the URL.",
        expected: "not verified",
        steps: [{ do: "other_tag" }],
      },
    ],
  },
  {
    name: "With the rolling key of a tap",
    attacks: [
      {
        name: "Expired key",
        tries: "Updates a variable after five minutes.",
        expected: "refused",
        steps: [{ do: "tap" }, { do: "advance", ms: LIFETIME_MS }, register],
      },
      {
        name: "Double update",
        tries: "Updates twice with one key.",
        expected: "refused",
        steps: [{ do: "tap" }, register, { ...register, value: "again" }],
      },
      {
        name: "Unknown variable",
        tries: "Updates a variable that the tag does not have.",
        expected: "refused",
        steps: [{ do: "tap" }, { ...register, key: "no-such-variable" }],
      },
      {
        name: "Raw key",
        tries: "Sends the key without its Base64 form.",
        expected: "refused",
        steps: [{ do: "tap" }, { do: "update_raw", key: "registered", value: "true" }],
      },
    ],
  },
  {
    name: "Not an attack",
    attacks: [
      {
        name: "Link preview",
        tries: "A messenger fetches the URL before the visitor opens it.",
        expected: "verified",
        steps: [{ do: "link_preview" }],
      },
    ],
  },
];

export const attacks = groups.flatMap((group) => group.attacks);

/** Whether the last step of an attack had the expected result. */
export function asExpected({ expected }: Attack, { verified, failed }: Outcome): boolean {
  if (expected === "refused") return failed === true;
  return verified === (expected === "verified");
}
