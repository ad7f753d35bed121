// One thing done in the simulated world, and what came of it. A run is a list
// of them, which can be saved as a scenario and played again.

import { get, post, publicCall, type Page } from "../../lib/api/client";
import type { VirtualInlay, VirtualTapped } from "../../lib/api/types";
import { base64 } from "../../lib/format";
import { ownKeys } from "../../lib/keys.svelte";
import { simulatedTime } from "../../lib/simulated.svelte";
import { reasonWords } from "../../lib/reasons";

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
  replay: "The same URL again",
  out_of_order: "An older code",
  tamper: "An altered token",
  other_tag: "Another tag's code",
  link_preview: "A link preview, then the visitor",
  advance: "Time passes",
  payload: "Read the payload",
  update: "Update a variable",
  update_raw: "Update with the raw key",
};

/** What the last tap left: its key in both forms. */
export interface Held {
  rk: string | null;
  rk_base64: string | null;
}

type Tapped = Extract<Action["do"], "tap" | "replay" | "tamper">;

export async function perform(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  switch (action.do) {
    case "tap":
    case "replay":
    case "tamper":
      return tap(action, action.do, inlay, held);
    case "out_of_order":
      return outOfOrder(action, inlay, held);
    case "other_tag":
      return otherTag(action, inlay, held);
    case "link_preview":
      return linkPreview(action, inlay, held);
    case "advance":
      await simulatedTime.advance(action.ms);
      return { action, text: `Simulated time is ${Math.round(action.ms / 1000)} s later.` };
    case "payload": {
      const { body } = await publicCall("GET", `/v2/interactions/rk_payload?rk=${encodeURIComponent(held.rk_base64 ?? "")}`);
      const valid = body !== null && !Array.isArray(body);
      return { action, text: valid ? JSON.stringify(body, null, 2) : "[]: the key is invalid, or its five minutes are over.", failed: !valid };
    }
    case "update":
    case "update_raw":
      return update(action, (action.do === "update" ? held.rk_base64 : held.rk) ?? "");
  }
}

async function tap(action: Action, kind: Tapped, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const { counter } = await get<VirtualInlay>(`/simulator/inlays/${inlay.id}`);
  const options = {
    tap: {},
    replay: { counter },
    tamper: { tamper: true },
  }[kind];
  return followed(action, await post<VirtualTapped>(`/simulator/inlays/${inlay.id}/tap`, { follow: true, ...options }), held);
}

function followed(action: Action, { counter, followed }: VirtualTapped, held: Held): Outcome {
  held.rk = followed?.rk ?? null;
  held.rk_base64 = followed?.rk ? (followed.rk_base64 ?? base64(followed.rk)) : null;
  if (followed?.interaction_id && followed.rk) ownKeys.remember(followed.interaction_id, followed.rk);
  const why = followed?.reason ? reasonWords(followed.reason) : null;
  const where = followed?.location ? `leads to ${followed.location.split("?")[0]}` : `answered ${followed?.status}`;
  return {
    action,
    text: `Counter ${counter}${why ? `, ${why}` : ""}; ${where}`,
    verified: followed?.tag_verified ?? null,
    interaction: followed?.interaction_id ?? null,
  };
}

/** A code is held back, a later one tapped; then the first arrives. */
async function outOfOrder(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const path = `/simulator/inlays/${inlay.id}/tap`;
  const { counter } = await post<VirtualTapped>(path);
  await post<VirtualTapped>(path, { follow: true });
  return followed(action, await post<VirtualTapped>(path, { follow: true, counter }), held);
}

/** A code of another virtual inlay, presented at this one's tag. */
async function otherTag(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const { items } = await get<Page<VirtualInlay>>("/simulator/inlays", { limit: 500 });
  const other = items.find((one) => one.tag_id !== inlay.tag_id);
  if (!other) throw new Error("There is no other virtual inlay. Make a second one first.");
  const options = { follow: true, at_tag_id: inlay.tag_id };
  return followed(action, await post<VirtualTapped>(`/simulator/inlays/${other.id}/tap`, options), held);
}

/** A messenger looks at the URL; the visitor opens the same one afterwards. */
async function linkPreview(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const path = `/simulator/inlays/${inlay.id}/tap`;
  const { counter, followed: preview } = await post<VirtualTapped>(path, { follow: true, link_preview: true });
  const visit = followed(action, await post<VirtualTapped>(path, { follow: true, counter }), held);
  return { ...visit, text: `The preview was answered ${preview?.status} and recorded nothing. Then the visitor: ${visit.text}` };
}

async function update(action: Extract<Action, { key: string }>, key: string): Promise<Outcome> {
  const { status, body } = await publicCall("POST", "/v2/interactions/data", {
    rolling_key: key,
    data: { [action.key]: action.value },
  });
  const message = (body as { message?: string } | null)?.message ?? "";
  return { action, text: `${status}: ${message} (${action.key} = “${action.value}”)`, failed: status !== 200 };
}
