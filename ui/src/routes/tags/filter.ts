// The filters of the list of tags: in the address of the screen, and in requests to the service.

import type { ParametersOf } from "../../lib/api/operations";
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

type Query = ParametersOf<"/tags", "get">;

/** The query for a page of the list. A value that somebody wrote into the address is refused by the service. */
export function listQuery(shown: Shown): Query {
  const { q, status, experience, verifier, world, sort = "-created" } = shown;
  return {
    q,
    status: (status === "deleted" ? "" : status) as Query["status"],
    deleted: status === "deleted" ? true : "",
    experience_id: (experience === "none" ? "" : experience) as Query["experience_id"],
    assigned: experience === "none" ? false : "",
    verifier_enabled: verifier as Query["verifier_enabled"],
    simulated: world as Query["simulated"],
    sort: sort as Query["sort"],
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
