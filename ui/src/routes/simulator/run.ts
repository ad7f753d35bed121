// One thing done in the simulated world, and what came of it. A run is a list
// of them, which can be saved as a scenario and played again.

import { get, post, publicCall, type Page } from "../../lib/api/client";
import type { Followed, VirtualInlay } from "../../lib/api/types";
import { base64 } from "../../lib/format";
import { ownKeys } from "../../lib/keys.svelte";

export type Action =
  | { do: "tap" }
  | { do: "replay" }
  | { do: "out_of_order" }
  | { do: "tamper" }
  | { do: "other_tag" }
  | { do: "link_preview" }
  | { do: "advance"; ms: number }
  | { do: "payload" }
  | { do: "update"; key: string; value: string }
  | { do: "update_raw"; key: string; value: string };

export interface Outcome {
  action: Action;
  text: string;
  /** What `tag_verified` came to, for taps. */
  verified?: boolean | null;
  interaction?: number | null;
  failed?: boolean;
}

export const words: Record<Action["do"], string> = {
  tap: "Tap",
  replay: "Replay the last URL",
  out_of_order: "Send an older code",
  tamper: "Alter the token",
  other_tag: "Send another tag's code",
  link_preview: "Preview the link",
  advance: "Let time pass",
  payload: "Read the payload",
  update: "Update a variable",
  update_raw: "Update with the raw key",
};

/** What the last tap left: its key in both forms. */
export interface Held {
  rk: string | null;
  rk_base64: string | null;
}

interface Tapped {
  url: string;
  counter: number;
  followed: Followed | null;
}

export async function perform(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  switch (action.do) {
    case "tap":
    case "replay":
    case "out_of_order":
    case "tamper":
      return tap(action, inlay, held);
    case "other_tag":
      return otherTag(action, inlay);
    case "link_preview": {
      const { followed } = await post<Tapped>(`/simulator/inlays/${inlay.id}/tap`, { follow: true, link_preview: true });
      return { action, text: `Answered ${followed?.status}; nothing is recorded, and the one-time URL is as good as before.` };
    }
    case "advance":
      await post("/simulator/clock", { advance_ms: action.ms });
      return { action, text: `Simulated time is ${Math.round(action.ms / 1000)} s later.` };
    case "payload": {
      const { body } = await publicCall("GET", `/v2/interactions/rk_payload?rk=${encodeURIComponent(held.rk_base64 ?? "")}`);
      const valid = body !== null && !Array.isArray(body);
      return { action, text: valid ? JSON.stringify(body, null, 2) : "[]: the key is invalid, or its five minutes are over.", failed: !valid };
    }
    case "update":
    case "update_raw": {
      const key = action.do === "update" ? held.rk_base64 : held.rk;
      const { status, body } = await publicCall("POST", "/v2/interactions/data", {
        rolling_key: key ?? "",
        data: { [action.key]: action.value },
      });
      const message = (body as { message?: string } | null)?.message ?? "";
      return { action, text: `${status}: ${message}`, failed: status !== 200 };
    }
  }
}

async function tap(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const { counter } = await get<VirtualInlay>(`/simulator/inlays/${inlay.id}`);
  const options = {
    tap: {},
    replay: { counter },
    out_of_order: { counter: Math.max(0, counter - 1) },
    tamper: { tamper: true },
  }[action.do as "tap"];
  const tapped = await post<Tapped>(`/simulator/inlays/${inlay.id}/tap`, { follow: true, ...options });
  const followed = tapped.followed;
  held.rk = followed?.rk ?? null;
  held.rk_base64 = followed?.rk ? (followed.rk_base64 ?? base64(followed.rk)) : null;
  if (followed?.interaction_id && followed.rk) ownKeys.remember(followed.interaction_id, followed.rk);
  return {
    action,
    text: `Counter ${tapped.counter}; ${followed?.location ? `leads to ${followed.location.split("?")[0]}` : `answered ${followed?.status}`}`,
    verified: followed?.tag_verified ?? null,
    interaction: followed?.interaction_id ?? null,
  };
}

/** A code of another virtual inlay, presented at this one's tag. */
async function otherTag(action: Action, inlay: VirtualInlay): Promise<Outcome> {
  const { items } = await get<Page<VirtualInlay>>("/simulator/inlays", { limit: 200 });
  const other = items.find((one) => one.id !== inlay.id && one.mirror !== null);
  if (!other) return { action, text: "There is no other virtual inlay. Make a second one first.", failed: true };
  const options = { follow: true, at_tag_id: inlay.tag_id };
  const { followed } = await post<Tapped>(`/simulator/inlays/${other.id}/tap`, options);
  return {
    action,
    text: `A code of ${other.uid}, answered ${followed?.status}`,
    verified: followed?.tag_verified ?? null,
    interaction: followed?.interaction_id ?? null,
  };
}

export interface Scenario {
  tapdesk_scenario: 1;
  steps: Action[];
}

/** A scenario file's steps, or why it is none. */
export function readScenario(text: string): Action[] {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error("The file is not a scenario: it is not JSON.");
  }
  const steps = (found as Partial<Scenario> | null)?.steps;
  if ((found as Partial<Scenario> | null)?.tapdesk_scenario !== 1 || !Array.isArray(steps)) {
    throw new Error("The file is not a scenario that was saved here.");
  }
  if (!steps.every((step) => step && typeof step === "object" && step.do in words)) {
    throw new Error("The scenario has a step that this version does not know.");
  }
  return steps;
}
