// Attacks and mishaps: each is a few steps of a run, with the expected result.

import type { Action } from "./run";

const LIFETIME_MS = 300_000;
const register: Action = { do: "update", key: "registered", value: "true" };

export const attacks: { name: string; expected: string; steps: Action[] }[] = [
  { name: "Replay", expected: "The same URL is not verified again.", steps: [{ do: "tap" }, { do: "replay" }] },
  { name: "Out of order", expected: "An older code is not verified.", steps: [{ do: "out_of_order" }] },
  { name: "Altered code", expected: "A changed code is not verified.", steps: [{ do: "tamper" }] },
  { name: "Another tag's code", expected: "A code is valid only for its own tag.", steps: [{ do: "other_tag" }] },
  {
    name: "Expired key",
    expected: "A key expires after five minutes.",
    steps: [{ do: "tap" }, { do: "advance", ms: LIFETIME_MS }, register],
  },
  { name: "Double update", expected: "A key updates once.", steps: [{ do: "tap" }, register, { ...register, value: "again" }] },
  {
    name: "Unknown variable",
    expected: "Only predefined variables change.",
    steps: [{ do: "tap" }, { ...register, key: "no-such-variable" }],
  },
  {
    name: "Raw key",
    expected: "A key is accepted only in Base64.",
    steps: [{ do: "tap" }, { do: "update_raw", key: "registered", value: "true" }],
  },
  { name: "Link preview", expected: "A link preview does not use up the URL.", steps: [{ do: "link_preview" }] },
];
