// The criteria of a report's taps, as text.

import type { Report, VerificationState } from "../../lib/api/types";
import { countryWords, languageWords, systemWords, wayWords } from "../../lib/tap/visit";
import type { href } from "../../lib/window/router.svelte";

type Known = Report["experiences"][number];

/** The counts of a row; `before` is `null` if the period before is not counted. */
export type Counted = Pick<Known, "taps" | "updates" | "submissions"> & { before: Pick<Known["before"], "taps"> | null };
export type View = "experiences" | "groups" | "tags" | "verdicts" | "technologies" | "countries" | "systems" | "languages" | "hours";

export const views: [view: View, name: string][] = [
  ["experiences", "Experience"],
  ["groups", "Group"],
  ["tags", "Tag"],
  ["verdicts", "Verdict"],
  ["technologies", "Way of scanning"],
  ["countries", "Country"],
  ["systems", "System"],
  ["languages", "Language"],
  ["hours", "Hour of the week"],
];

export const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

export interface Row {
  key: string;
  name: string;
  counts: Counted;
  /** The address that the name links to; `null` for a name without a link. */
  to: Parameters<typeof href> | null;
}

const verdictWords: Record<VerificationState, string> = { verified: "Verified", not_verified: "Not verified", not_checked: "Not checked" };

/** The parameters with these names, of those in an address. */
const only = (query: Record<string, string>, ...names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name)));

/**
 * The rows of a view, in the report's order: most taps first. `query` has the period, the group and the experience of
 * the report as parameters of an address, so that links keep them.
 */
export function rows(report: Report, view: Exclude<View, "hours">, query: Record<string, string> = {}): Row[] {
  switch (view) {
    case "experiences":
      return report.experiences.map((counts): Row => {
        const { experience_id: id, name } = counts;
        const key = String(id);
        if (id === null) return { key, name: "No experience", counts, to: null };
        return { key, name: name ?? `Experience ${id}`, counts, to: ["experiences", id, {}] };
      });
    case "groups":
      // The overview of a group has the rows of the groups directly below it.
      return report.groups.map((counts): Row => {
        const { group_id: id, name } = counts;
        return { key: String(id), name, counts, to: ["overview", null, { ...only(query, "dates", "per"), group: String(id) }] };
      });
    case "tags":
      return (report.tags ?? []).map((tag): Row => {
        const { tag_id: id, tag_name: name } = tag;
        return { key: String(id), name, counts: { ...tag, before: null }, to: ["tags", id, {}] };
      });
    case "verdicts":
      return report.verdicts.map((counts): Row => {
        const { verdict } = counts;
        const kept = only(query, "dates", "group", "experience");
        return { key: verdict, name: verdictWords[verdict], counts, to: ["interactions", null, { ...kept, verification: verdict }] };
      });
    default:
      return report[view].map((counts): Row => ({ key: counts.value, name: valueWords(view, counts.value), counts, to: null }));
  }
}

function valueWords(view: "technologies" | "countries" | "systems" | "languages", value: string): string {
  if (value === "") return "Not known";
  return { technologies: wayWords, systems: systemWords, countries: countryWords, languages: languageWords }[view](value);
}

/** The text in place of a table without rows. `group` is the id of the report's group; `null` for all. */
export function noneWords(report: Report, view: View, group: number | null): string {
  if (view === "tags" && report.tags === null) return "Tags are counted only up to 200,000 taps. Choose a shorter period.";
  if (view === "groups")
    return group === null ? "No group was tapped in this period." : "No group below this one was tapped in this period.";
  return "No taps in this period.";
}

/** The rows of an experience that treats groups of visitors differently. */
export const split = (report: Report): Row[] =>
  report.split.map((counts) => ({
    key: `${counts.from}-${counts.until}`,
    name: `${counts.until - counts.from}% of visitors (${counts.from} to ${counts.until})`,
    counts,
    to: null,
  }));

/** Taps of each hour of the week: seven days of 24 hours. */
export function week(report: Report): number[][] {
  const taps = days.map(() => Array.from({ length: 24 }, () => 0));
  for (const { weekday, hour, taps: counted } of report.hours) taps[weekday - 1]![hour] = counted;
  return taps;
}

/** The hour of the week with the most taps, the first of equal ones; `null` without taps. */
export function busiest(hours: number[][]): { day: number; hour: number; taps: number } | null {
  let most: ReturnType<typeof busiest> = null;
  for (const [day, taps] of hours.entries()) {
    for (const [hour, count] of taps.entries()) if (count > (most?.taps ?? 0)) most = { day, hour, taps: count };
  }
  return most;
}
