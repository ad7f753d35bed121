// The filters of the list of tags, in the address and in requests to the service.

import type { ParametersOf } from "../../lib/api/operations";
import type { TagFilter } from "../../lib/api/types";
import { demoWorld } from "../../lib/window/demoWorld.svelte";

/** The address: its members, and `attribute.KEY` for each attribute that is filtered by. */
export type Shown = Record<string, string | undefined>;

/** Members that filter the list; the order does not. */
const members = ["q", "status", "experience", "group", "verifier", "qr"] as const;

/** Names of parameters that begin like this continue with the key of an attribute. */
const ATTRIBUTE = "attribute.";

export const attributeName = (key: string): string => ATTRIBUTE + key;

/** The values of attributes that tags must have, by key. */
export const attributesOf = (shown: Shown): [key: string, value: string][] =>
  Object.entries(shown).flatMap(([name, value]) => (name.startsWith(ATTRIBUTE) && value ? [[name.slice(ATTRIBUTE.length), value]] : []));

const filtersOf = (shown: Shown): string[] => [...members, ...attributesOf(shown).map(([key]) => attributeName(key))];

export const narrows = (shown: Shown): boolean => filtersOf(shown).some((name) => Boolean(shown[name]));

/** The changes of the address that remove all filters. */
export const noFilters = (shown: Shown): Record<string, string> => Object.fromEntries(filtersOf(shown).map((name) => [name, ""]));

type Query = ParametersOf<"/tags", "get">;

/** The query for a page of the list. The service refuses an unknown value from the address. */
export function listQuery(shown: Shown): Query {
  const { q, status, experience, group, verifier, qr, sort = "-created" } = shown;
  return {
    q,
    status: (status === "deleted" ? "" : status) as Query["status"],
    deleted: status === "deleted" ? true : "",
    experience_id: (experience === "none" ? "" : experience) as Query["experience_id"],
    assigned: experience === "none" ? false : "",
    group_id: group as Query["group_id"],
    verifier_enabled: verifier as Query["verifier_enabled"],
    has_qr_code: qr as Query["has_qr_code"],
    simulated: demoWorld.simulated,
    sort: sort as Query["sort"],
    ...Object.fromEntries(attributesOf(shown).map(([key, value]) => [attributeName(key), value])),
  };
}

/** The query that counts the values of an attribute among the tags that the other filters leave. */
export function valuesQuery(shown: Shown, attribute: string): ParametersOf<"/tags/values", "get"> {
  const { sort: _, deleted: __, ...query } = listQuery({ ...shown, [attributeName(attribute)]: "" });
  return { ...query, attribute, estimate: true };
}

/** The query that counts the keys of attributes among the tags that the filters leave. */
export function keysQuery(shown: Shown): ParametersOf<"/tags/attributes", "get"> {
  const { sort: _, deleted: __, ...query } = listQuery(shown);
  return { ...query, estimate: true };
}

/**
 * The same filters for a bulk operation. Its action determines whether the tags are deleted ones.
 */
export function bulkFilter(shown: Shown): TagFilter {
  const { q, status, experience, group, verifier, qr } = shown;
  const attributes = attributesOf(shown).map(([key, value]) => [key, [value]]);
  return {
    ...(q && { q }),
    ...((status === "active" || status === "archived") && { status }),
    ...(experience === "none" && { assigned: false }),
    ...(experience && experience !== "none" && { experience_id: Number(experience) }),
    ...(group && { group_id: Number(group) }),
    ...(verifier && { verifier_enabled: verifier === "true" }),
    ...(qr && { has_qr_code: qr === "true" }),
    ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) as TagFilter["attributes"] }),
    ...(demoWorld.on && { simulated: "true" }),
  };
}
