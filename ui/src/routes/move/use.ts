// Stores a found format: a master key if the keys are derived from one, and the URL template with
// its shared keys.

import { post, Problem } from "../../lib/api/client";
import type { SolveCandidate, UrlTemplate } from "../../lib/api/types";
import { findsBy, has } from "../../lib/inlays/urlTemplate";

type Keys = readonly string[];

/** The key that finds the inlays of a format, if their URLs do not and it was given. */
const sharedKey = ({ slots, template }: SolveCandidate, keys: Keys): string | undefined =>
  has(template, "picc") && findsBy(template) === "meta_key" && slots?.meta != null ? keys[slots.meta] : undefined;

const masterKey = ({ slots, derivation }: SolveCandidate, masters: Keys): string | undefined =>
  slots?.master == null || !derivation ? undefined : masters[slots.master];

/** Whether a key that would be stored is the factory key: it is stored only if a person allows it. */
export const hasFactoryKey = (candidate: SolveCandidate, keys: Keys, masters: Keys): boolean =>
  [sharedKey(candidate, keys), masterKey(candidate, masters)].some((key) => key !== undefined && /^0+$/.test(key));

/** Stores the master key of a format; `null` if its keys are the inlays' own. */
export async function storeMaster(
  candidate: SolveCandidate,
  name: string,
  masters: Keys,
  allow_factory_keys: boolean,
): Promise<number | null> {
  const key = masterKey(candidate, masters);
  const { derivation } = candidate;
  return key && derivation ? (await post("/master-keys", { name, key, derivation, allow_factory_keys })).id : null;
}

/** Stores the template of a format, with the keys that find its inlays if their URLs do not. */
export async function storeTemplate(
  candidate: SolveCandidate,
  name: string,
  keys: Keys,
  master: number | null,
  allow_factory_keys: boolean,
): Promise<UrlTemplate> {
  const { template, technology, mode, mac_from, ndef_prefix, enc_length, tamper_at, lookup } = candidate;
  const shared = has(template, "picc") && findsBy(template) === "meta_key";
  const own = sharedKey(candidate, keys);
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
    allow_factory_keys,
    ...(own && { meta_keys: [own] }),
  };
  try {
    return await post("/url-templates", { ...body, ...(shared && !own && master !== null && { master_key_ids: [master] }) });
  } catch (error) {
    // A master key that gives each inlay its own meta key cannot find them.
    if (!(error instanceof Problem) || !error.errors.some(({ field }) => field === "master_key_ids")) throw error;
    return post("/url-templates", body);
  }
}
