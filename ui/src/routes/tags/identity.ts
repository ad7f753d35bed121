// The details of a tag that its form edits.

import type { Tag } from "../../lib/api/types";

export const identityOf = (tag: Tag) => ({
  name: tag.name,
  slug: tag.slug,
  title: tag.title,
  description: tag.description,
  language_code: tag.language_code,
  experience_id: tag.experience_id,
  verifier_enabled: tag.verifier_enabled,
  updates_require_verified: tag.updates_require_verified,
  track_location: tag.track_location,
});

export type Identity = ReturnType<typeof identityOf>;
