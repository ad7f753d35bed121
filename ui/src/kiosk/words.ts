// What visitors are told. No code, no blame, and what to do next.

import type { Notice } from "./desktop";

export const notices: Record<Notice, string> = {
  unread: "That tag could not be read. Lay it down once more, flat and still.",
  blank: "That tag has nothing to tell yet.",
  elsewhere: "That leads out of this exhibition, so it is not opened here.",
  failed: "The page cannot be reached just now. Please try again in a moment.",
  broke: "Something went wrong with that page. Lay your tag down again.",
};

/** When a visit is about to end; nothing before. */
export function closing(seconds: number): string {
  if (seconds > 15) return "";
  return `This page closes in ${seconds} ${seconds === 1 ? "second" : "seconds"}`;
}
