// The filters of the list of tags, in the address and in requests to the service.

import type { ParametersOf } from "../../lib/api/operations";
import type { TagFilter } from "../../lib/api/types";
import { demoWorld } from "../../lib/window/demoWorld.svelte";

export interface Shown {
  q?: string;
  status?: string;
  experience?: string;
  verifier?: string;
  qr?: string;
  sort?: string;
}

/** Members that filter the list; the order does not. */
export const blank = { q: "", status: "", experience: "", verifier: "", qr: "" } satisfies Shown;

export const narrows = (shown: Shown): boolean => Object.keys(blank).some((name) => Boolean(shown[name as keyof Shown]));

type Query = ParametersOf<"/tags", "get">;

/** The query for a page of the list. The service refuses an unknown value from the address. */
export function listQuery(shown: Shown): Query {
  const { q, status, experience, verifier, qr, sort = "-created" } = shown;
  return {
    q,
    status: (status === "deleted" ? "" : status) as Query["status"],
    deleted: status === "deleted" ? true : "",
    experience_id: (experience === "none" ? "" : experience) as Query["experience_id"],
    assigned: experience === "none" ? false : "",
    verifier_enabled: verifier as Query["verifier_enabled"],
    has_qr_code: qr as Query["has_qr_code"],
    simulated: demoWorld.simulated,
    sort: sort as Query["sort"],
  };
}

/**
 * The same filters for a bulk operation. Its action determines whether the tags are deleted ones.
 */
export function bulkFilter(shown: Shown): TagFilter {
  const { q, status, experience, verifier, qr } = shown;
  return {
    ...(q && { q }),
    ...((status === "active" || status === "archived") && { status }),
    ...(experience === "none" && { assigned: false }),
    ...(experience && experience !== "none" && { experience_id: Number(experience) }),
    ...(verifier && { verifier_enabled: verifier === "true" }),
    ...(qr && { has_qr_code: qr === "true" }),
    ...(demoWorld.on && { simulated: "true" }),
  };
}
