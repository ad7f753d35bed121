// The reason why the check of an address failed, in a few words, and the step that the card offers.
// The service adds a sentence with the way out.

import type { AddressReason } from "./address.svelte";

export interface ReasonWords {
  title: string;
  /** A step that the card offers in addition to another check. */
  action: "network" | "domain" | "path" | null;
}

export const addressReasons: Record<AddressReason, ReasonWords> = {
  loopback: { title: "Only this computer can open it", action: "network" },
  dns: { title: "The host name has no address", action: null },
  refused: { title: "Connection refused", action: null },
  timeout: { title: "No answer", action: null },
  tls: { title: "The secure connection failed", action: null },
  other_server: { title: "Another server answers there", action: "domain" },
  path: { title: "Right server, wrong path", action: "path" },
};
