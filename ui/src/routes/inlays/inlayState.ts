// The state of an inlay in words.

import type { Inlay } from "../../lib/api/types";

export interface InlayState {
  words: string;
  /**
   * "bad" if its taps are not verified, "warn" if they prove little, "on" if active, "off" if not.
   */
  tone: "bad" | "warn" | "on" | "off";
}

type Looked = Pick<Inlay, "blocked" | "used_up" | "factory_keys" | "bureau_keys" | "tag_id">;

export function stateOf(inlay: Looked): InlayState {
  if (inlay.blocked) return { words: "blocked", tone: "bad" };
  if (inlay.used_up) return { words: "used up", tone: "bad" };
  if (inlay.factory_keys) return { words: "factory keys", tone: "warn" };
  if (inlay.bureau_keys) return { words: "bureau keys", tone: "warn" };
  return inlay.tag_id === null ? { words: "not in use", tone: "off" } : { words: "in use", tone: "on" };
}
