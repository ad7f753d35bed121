import type { Experience } from "../../lib/api/types";

/** The state of an experience in words: "Version 3, edited". */
export const stateOf = ({ published_version: version, draft }: Pick<Experience, "published_version" | "draft">): string =>
  version === null ? "Draft" : `Version ${version}${draft ? ", edited" : ""}`;
