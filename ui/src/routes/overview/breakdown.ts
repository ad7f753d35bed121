// The criteria of a report's taps, as text.

import type { Report } from "../../lib/api/types";
import { countryWords, languageWords, systemWords, wayWords } from "../../lib/tap/visit";

export type Counted = Pick<Report["experiences"][number], "taps" | "updates" | "submissions" | "before">;
export type View = "experiences" | "technologies" | "countries" | "systems" | "languages" | "hours";

export const views: [view: View, name: string][] = [
  ["experiences", "Experience"],
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
}

/** The rows of a view, in the report's order: most taps first. */
export function rows(report: Report, view: Exclude<View, "hours">): Row[] {
  if (view === "experiences") {
    return report.experiences.map((counts) => ({
      key: String(counts.experience_id),
      name: counts.experience_id === null ? "No experience" : (counts.name ?? `Experience ${counts.experience_id}`),
      counts,
    }));
  }
  const name = (value: string) => {
    if (value === "") return "Not known";
    return { technologies: wayWords, systems: systemWords, countries: countryWords, languages: languageWords }[view](value);
  };
  return report[view].map((counts) => ({ key: counts.value, name: name(counts.value), counts }));
}

/** The rows of an experience that treats groups of visitors differently. */
export const split = (report: Report): Row[] =>
  report.split.map((counts) => ({
    key: `${counts.from}-${counts.until}`,
    name: `${counts.until - counts.from}% of visitors (${counts.from} to ${counts.until})`,
    counts,
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
