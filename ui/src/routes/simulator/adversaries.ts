// What an adversary, or a bad day, would try: each a few steps of a run, and
// what should come of it.

import type { Action } from "./run";

const LIFE = 300_000;
const register: Action = { do: "update", key: "registered", value: "true" };

export const adversaries: { name: string; should: string; steps: Action[] }[] = [
  { name: "Replay", should: "The same URL again is not verified.", steps: [{ do: "tap" }, { do: "replay" }] },
  { name: "Out of order", should: "An older code is not verified.", steps: [{ do: "out_of_order" }] },
  { name: "Altered token", should: "A changed MAC is not verified.", steps: [{ do: "tamper" }] },
  { name: "Another tag's code", should: "A code proves its own tag alone.", steps: [{ do: "other_tag" }] },
  { name: "Expired key", should: "After five minutes a key is refused.", steps: [{ do: "tap" }, { do: "advance", ms: LIFE }, register] },
  { name: "Double update", should: "A key updates once.", steps: [{ do: "tap" }, register, { ...register, value: "again" }] },
  { name: "Unknown variable", should: "Only predefined variables change.", steps: [{ do: "tap" }, { ...register, key: "no-such-variable" }] },
  { name: "Raw key", should: "A key counts in Base64 alone.", steps: [{ do: "tap" }, { do: "update_raw", key: "registered", value: "true" }] },
  { name: "Link preview", should: "It does not burn the URL.", steps: [{ do: "link_preview" }] },
];
