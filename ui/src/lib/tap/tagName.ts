// The name of a tag for one of its taps.

import { count } from "../format/format";

/** The tag's name, or its number if the tag is no longer accessible. */
export const tagName = ({ tag_id, tag_name }: { tag_id: number | null; tag_name: string | null }) =>
  tag_name ?? (tag_id === null ? "No tag" : `Tag ${count(tag_id)}`);
