// The times of a tap's steps, and their durations. The service knows when the payload was first
// read and when the update came; durations are known only for taps by this window.

import type { Step, TracedInteraction } from "../api/types";
import { lasted } from "../format/format";
import type { OwnTimes } from "./ownTaps";

type Traced = Pick<TracedInteraction, "at" | "payload_reads" | "update" | "refused_update">;

/**
 * The time of each step, as text. The steps up to the redirect are one request; its duration is at
 * the last of them.
 */
export function stepTimes(trace: Traced, took: OwnTimes): Partial<Record<Step["name"], string>> {
  const said = (word: string, length: string | null) => length && `${word} ${length}`;
  const after = (at: string | undefined) => said("after", lasted(Date.parse(at ?? "") - Date.parse(trace.at)));
  const request = (ms: number | undefined) => said("took", lasted(ms));
  const words = (...parts: (string | null)[]) => parts.filter(Boolean).join(", ");
  const times = {
    redirect: words(request(took.tap)),
    payload: words(after(trace.payload_reads?.first_at), request(took.payload)),
    update: words(after(trace.update?.at ?? trace.refused_update?.at), request(took.update)),
  };
  return Object.fromEntries(Object.entries(times).filter(([, text]) => text));
}
