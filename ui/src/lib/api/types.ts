// Short names for what the service speaks of.

export type Status = "active" | "archived";
export type PropertyClass = "attributes" | "data" | "variables";

export interface Venue {
  type: { id: number; name: string; stationary: number };
  name: string;
}

export interface Location {
  id: number;
  street: string;
  dma: number;
  lat: number;
  lon: number;
  stationary: boolean;
  data: Record<string, unknown>;
  user_data: unknown[];
  system: unknown[];
  venue: Venue;
  asset: { type: Venue["type"]; id: string };
}

export interface Tag {
  id: number;
  slug: string;
  name: string;
  title: string;
  description: string;
  language_code: string;
  status: Status;
  experience_id: number | null;
  verifier_enabled: boolean;
  updates_require_verified: boolean;
  attributes: Record<string, string>;
  data: Record<string, string>;
  variables: Record<string, string>;
  location: Location | null;
  track_location: boolean;
  has_qr_code: boolean;
  simulated: boolean;
  scan_count: number;
  last_scan_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface Inlay {
  id: number;
  uid: string;
  technology: string;
  mirror: "plain" | "encrypted" | null;
  mac_from: "none" | "uid";
  tag_id: number | null;
  last_counter: number;
  key_source: string;
  meta_key_check: string | null;
  file_key_check: string | null;
  factory_keys: boolean;
  used_up?: boolean;
  simulated: boolean;
}

export interface Experience {
  id: number;
  name: string;
  kind: "redirect" | "studio";
  target_url?: string;
  blocks?: unknown[];
  published_version: number | null;
  draft: boolean;
  tags: number;
  created_at: string;
  updated_at: string;
}

export interface TapStep {
  name: string;
  verdict: string;
  detail: string;
}

export interface Interaction {
  id: number;
  at: string;
  tag_id: number;
  tag_name?: string | null;
  tag_verified: boolean | null;
  reason: string;
  simulated: boolean;
}

export type KeyView =
  | { state: "none" }
  | { state: "valid"; remaining_ms: number }
  | { state: "expired" }
  | { state: "consumed"; consumed_at: string };

export interface InteractionDetail extends Interaction {
  country: string;
  steps: TapStep[];
  key: KeyView;
}

export interface Bucket {
  at: string;
  verified: number;
  not_verified: number;
  not_checked: number;
}

export interface Stats {
  buckets: Bucket[];
  totals: { verified: number; not_verified: number; not_checked: number };
  top_tags: { tag_id: number; name: string; taps: number }[];
  attention: { replays: number; counter_gaps: number; unset_tags: number; factory_keys: number; used_up: number };
}

export interface VirtualInlay {
  id: number;
  inlay_id: number;
  uid: string;
  mirror: "plain" | "encrypted" | null;
  mac_from: "none" | "uid";
  tag_id: number | null;
  tag: string | null;
  counter: number;
  simulated: boolean;
}

export interface Followed {
  status: number;
  location: string | null;
  interaction_id: number | null;
  tag_verified: boolean | null;
  reason: string | null;
  rk: string | null;
  rk_base64: string | null;
  payload: unknown;
}
