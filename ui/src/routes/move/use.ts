// Stores a found format: a master key if the keys are derived from one, and the URL template with
// its shared keys.

import { post, Problem } from "../../lib/api/client";
import type { SolveCandidate, UrlTemplate } from "../../lib/api/types";
import { findsBy, has } from "../../lib/inlays/urlTemplate";

/** Stores the master key of a format; `null` if its keys are the inlays' own. */
export async function storeMaster({ slots, derivation }: SolveCandidate, name: string, masters: readonly string[]): Promise<number | null> {
  const key = slots?.master == null ? undefined : masters[slots.master];
  return key && derivation ? (await post("/master-keys", { name, key, derivation })).id : null;
}

/** Stores the template of a format, with the keys that find its inlays if their URLs do not. */
export async function storeTemplate(
  candidate: SolveCandidate,
  name: string,
  keys: readonly string[],
  master: number | null,
): Promise<UrlTemplate> {
  const { slots, template, technology, mode, mac_from, ndef_prefix, enc_length, tamper_at, lookup } = candidate;
  const shared = has(template, "picc") && findsBy(template) === "meta_key";
  const own = slots?.meta == null ? undefined : keys[slots.meta];
  const body = {
    name,
    template,
    technology,
    mode,
    mac_from,
    ndef_prefix,
    enc_length,
    tamper_at,
    lookup,
    ...(shared && own && { meta_keys: [own] }),
  };
  try {
    return await post("/url-templates", { ...body, ...(shared && !own && master !== null && { master_key_ids: [master] }) });
  } catch (error) {
    // A master key that gives each inlay its own meta key cannot find them.
    if (!(error instanceof Problem) || !error.errors.some(({ field }) => field === "master_key_ids")) throw error;
    return post("/url-templates", body);
  }
}
