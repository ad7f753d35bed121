// Messages to visitors: no error codes, no blame, and what to do next.

import type { Notice } from "./desktop";

export const notices: Record<Notice, string> = {
  unread: "The tag could not be read. Place it flat on the reader and hold it still.",
  blank: "This tag has no content yet.",
  copied: "The content of this tag was copied from another tag, so it is not opened.",
  other_host: "This tag opens another site, which is not available here.",
  failed: "The page cannot be reached. Please try again in a moment.",
  broke: "The page stopped working. Place your tag on the reader again.",
};

/** When a visit is about to end; nothing before. */
export function closing(seconds: number): string {
  if (seconds > 15) return "";
  return `This page closes in ${seconds} ${seconds === 1 ? "second" : "seconds"}`;
}
