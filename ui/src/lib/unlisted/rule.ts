// Stores the rule of a URL template for unlisted chips.

import { patchVersion, post, Problem } from "../api/client";
import type { UrlTemplate } from "../api/types";
import type { unlistedFields } from "./unlisted";

type Rule = ReturnType<typeof unlistedFields>;

/** The keys that are stored with a rule; empty for none. */
interface NewKeys {
  /** The id of a master key. */
  master: string;
  /** A file key of all chips. */
  shared: string;
}

const UNOPENED =
  "Tapdesk reads the UID of an unlisted chip with a shared meta key, and this URL template has none. " +
  "Add one under “Shared meta keys” of the URL template, or choose “Refuse”.";

const OWN_META_KEYS =
  "This master key gives each chip a meta key of its own, which cannot read the UID of an unlisted chip. " +
  "Add a shared meta key under “Shared meta keys” of the URL template first.";

/** Stores new keys and the edits of a rule. Fails with errors in the words of the form. */
export async function saveRule(id: number, changes: Partial<Rule>, { master, shared }: NewKeys): Promise<UrlTemplate> {
  try {
    if (master !== "") await post("/url-templates/{id}/meta-keys", { master_key_ids: [Number(master)] }, { id });
    const body = { ...changes, ...(shared !== "" && { shared_file_key: shared.trim() }) };
    return (await patchVersion("/url-templates/{id}", body, { id }, null)).value;
  } catch (error) {
    throw plainly(error);
  }
}

/**
 * The same error in plain words: the service advises to send `meta_keys`, a member of its API that
 * the form of the rule does not have.
 */
function plainly(error: unknown): unknown {
  const isOfApi = ({ message }: { message: string }) => message.includes("meta_keys");
  if (!(error instanceof Problem) || !error.errors.some(isOfApi)) return error;
  const errors = error.errors.map((one) =>
    isOfApi(one) ? { ...one, message: one.field === "meta_keys" ? UNOPENED : OWN_META_KEYS } : one,
  );
  const detail = errors.map(({ message }) => message).join(" ");
  return new Problem(error.status, detail, error.code, errors, error.current, error.etag);
}
