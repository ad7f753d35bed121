// The filters of the list of tags: in the address of the screen, and in requests to the service.

import type { TagFilter } from "../../lib/api/types";

export interface Shown {
  q?: string;
  status?: string;
  experience?: string;
  verifier?: string;
  world?: string;
  sort?: string;
}

/** Members that narrow the list; the order does not. */
export const blank = { q: "", status: "", experience: "", verifier: "", world: "" } satisfies Shown;

export const narrows = (shown: Shown): boolean => Object.keys(blank).some((name) => Boolean(shown[name as keyof Shown]));

/** The query for a page of the list. */
export function listQuery(shown: Shown) {
  const { q, status, experience, verifier, world, sort = "-created" } = shown;
  return {
    q,
    status: status === "deleted" ? "" : status,
    deleted: status === "deleted" ? true : "",
    experience_id: experience === "none" ? "" : experience,
    assigned: experience === "none" ? false : "",
    verifier_enabled: verifier,
    simulated: world,
    sort,
  };
}

/** The same filters for a bulk operation, whose action says whether the tags are deleted ones. */
export function bulkFilter(shown: Shown): TagFilter {
  const { q, status, experience, verifier, world } = shown;
  return {
    ...(q && { q }),
    ...((status === "active" || status === "archived") && { status }),
    ...(experience === "none" && { assigned: false }),
    ...(experience && experience !== "none" && { experience_id: Number(experience) }),
    ...(verifier && { verifier_enabled: verifier === "true" }),
    ...(world && { simulated: world === "all" ? "all" : "true" }),
  };
}
