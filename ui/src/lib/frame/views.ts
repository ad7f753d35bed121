// Saved views: the filters and the order of a list, under a name.

import { kept } from "../window/kept";
import { href, type Screen } from "../window/router.svelte";

export interface View {
  name: string;
  /** In the form of the address. */
  query: Record<string, string>;
}

/** The lists with saved views. */
export const WITH_VIEWS: readonly Screen[] = ["tags", "interactions", "submissions", "inlays"];

/** Parameters of the address other than filters and order. */
const OTHERS = ["new", "part", "step"];

/** The filters and the order in an address. */
export const viewed = (query: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== "" && !OTHERS.includes(name)));

/** Whether two addresses show the same view. */
export const sameView = (one: Record<string, string>, other: Record<string, string>): boolean => sorted(one) === sorted(other);
const sorted = (query: Record<string, string>) => JSON.stringify(Object.entries(viewed(query)).sort());

/** The views with `view` added, in place of one with its name. */
export const withView = (views: readonly View[], view: View): View[] =>
  [...views.filter(({ name }) => name !== view.name), { ...view, query: viewed(view.query) }].sort((one, other) =>
    one.name.localeCompare(other.name),
  );

/** The views of a screen, kept over restarts. */
export function viewsOf(screen: Screen) {
  const memory = kept<{ views: View[] }>(`views ${screen}`, { views: [] });
  return {
    load: () => memory.load().views,
    save: (views: View[]) => memory.save({ views }),
    href: (view: View) => href(screen, null, view.query),
  };
}
