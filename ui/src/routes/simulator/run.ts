// The actions of the simulator and their results. A run is a list of actions, which can
// be saved as a scenario and played again.

import { get, post, publicCall } from "../../lib/api/client";
import type { VirtualInlay, VirtualTapped } from "../../lib/api/types";
import { base64 } from "../../lib/format/format";
import { ownTaps, timesOf } from "../../lib/tap/ownTaps";
import { simulatedTime } from "../../lib/stores/simulated.svelte";
import { reasonWords } from "../../lib/tap/reasons";

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
  /** `tag_verified`, for taps. */
  verified?: boolean | null;
  interaction?: number | null;
  failed?: boolean;
}

export const words: Record<Action["do"], string> = {
  tap: "Tap",
  replay: "Same URL again",
  out_of_order: "Older code",
  tamper: "Altered code",
  other_tag: "Another tag's code",
  link_preview: "Link preview, then the visitor",
  advance: "Advance time",
  payload: "Read the payload",
  update: "Update a variable",
  update_raw: "Update with the raw key",
};

/** The last tap, and its key, raw and in Base64. */
export interface Held {
  interaction: number | null;
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
      return { action, text: `Simulated time advanced by ${Math.round(action.ms / 1000)} s.` };
    case "payload": {
      const { body, ms } = await publicCall("GET", `/v2/interactions/rk_payload?rk=${encodeURIComponent(held.rk_base64 ?? "")}`);
      ownTaps.took(held.interaction, { payload: ms });
      const valid = body !== null && !Array.isArray(body);
      return { action, text: valid ? JSON.stringify(body, null, 2) : "[]: the key is invalid or expired.", failed: !valid };
    }
    case "update":
    case "update_raw":
      return update(action, held, (action.do === "update" ? held.rk_base64 : held.rk) ?? "");
  }
}

async function tap(action: Action, kind: Tapped, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const { counter } = await get("/simulator/inlays/{id}", { id: inlay.id });
  const options = {
    tap: {},
    replay: { counter },
    tamper: { tamper: true },
  }[kind];
  return followed(action, await post("/simulator/inlays/{id}/tap", { follow: true, ...options }, { id: inlay.id }), held);
}

function followed(action: Action, { counter, url, followed }: VirtualTapped, held: Held): Outcome {
  held.rk = followed?.rk ?? null;
  held.rk_base64 = followed?.rk ? (followed.rk_base64 ?? base64(followed.rk)) : null;
  held.interaction = followed?.interaction_id ?? null;
  if (followed?.interaction_id) {
    const { location } = followed;
    ownTaps.remember(followed.interaction_id, { url, location, rk: held.rk, took: timesOf(followed) });
  }
  const why = followed?.reason ? reasonWords(followed.reason) : null;
  const outcome = followed?.location ? `redirects to ${followed.location.split("?")[0]}` : `status ${followed?.status}`;
  return {
    action,
    text: `Counter ${counter}${why ? `, ${why}` : ""}; ${outcome}`,
    verified: followed?.tag_verified ?? null,
    interaction: followed?.interaction_id ?? null,
  };
}

/** Taps a later code first, then the earlier one. */
async function outOfOrder(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const at = { id: inlay.id };
  const { counter } = await post("/simulator/inlays/{id}/tap", {}, at);
  await post("/simulator/inlays/{id}/tap", { follow: true }, at);
  return followed(action, await post("/simulator/inlays/{id}/tap", { follow: true, counter }, at), held);
}

/** Sends a code of another virtual inlay to this one's tag. */
async function otherTag(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const { items } = await get("/simulator/inlays", { limit: 500 });
  const other = items.find((one) => one.tag_id !== inlay.tag_id);
  if (!other) throw new Error("This attack needs a virtual inlay of another tag. Create one first.");
  const options = { follow: true, at_tag_id: inlay.tag_id };
  return followed(action, await post("/simulator/inlays/{id}/tap", options, { id: other.id }), held);
}

/** A link preview fetches the URL; the visitor then opens it. */
async function linkPreview(action: Action, inlay: VirtualInlay, held: Held): Promise<Outcome> {
  const at = { id: inlay.id };
  const { counter, followed: preview } = await post("/simulator/inlays/{id}/tap", { follow: true, link_preview: true }, at);
  const visit = followed(action, await post("/simulator/inlays/{id}/tap", { follow: true, counter }, at), held);
  return { ...visit, text: `Link preview: status ${preview?.status}, recorded nothing. Visitor: ${visit.text}` };
}

async function update(action: Extract<Action, { key: string }>, held: Held, key: string): Promise<Outcome> {
  const { status, body, ms } = await publicCall("POST", "/v2/interactions/data", {
    rolling_key: key,
    data: { [action.key]: action.value },
  });
  ownTaps.took(held.interaction, { update: ms });
  const message = (body as { message?: string } | null)?.message ?? "";
  return { action, text: `${status}: ${message} (${action.key} = “${action.value}”)`, failed: status !== 200 };
}
