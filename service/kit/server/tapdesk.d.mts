import type { Payload, Tag, Updated } from "../tapdesk.mjs";

/** The facts of a tap, as in the browser; a key is traded as often as needed. */
export interface Traded {
  verified: boolean | null;
  reason: "ok" | "none" | "expired" | "unreachable";
  tag: Tag | null;
  payload: Payload | null;
  expiresAt: Date | null;
}

export function tap(service: string, rk: string | null | undefined): Promise<Traded>;
export function update(
  service: string,
  rk: string | null | undefined,
  values: Record<string, string>,
  idempotencyKey?: string,
): Promise<Updated>;
export function verifyWebhook(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: Uint8Array | string,
): { type: string; timestamp: string; data: Record<string, unknown> };
