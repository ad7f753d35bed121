// A range of whole days as a filter: its value in the address, its words, and the moments between
// which the service looks.

// The library of days that bits-ui takes (Apache-2.0).
import { CalendarDate, getLocalTimeZone, parseDate, startOfMonth, toCalendarDate, type DateValue } from "@internationalized/date";

/** The first and the last day. */
export interface Days {
  start: CalendarDate;
  end: CalendarDate;
}

/** Ranges that move with the present day, so that a saved view keeps its meaning. */
export const presets: readonly { value: string; name: string; days: (today: CalendarDate) => Days }[] = [
  { value: "today", name: "Today", days: (today) => ({ start: today, end: today }) },
  { value: "yesterday", name: "Yesterday", days: (today) => lastDays(today.subtract({ days: 1 }), 1) },
  { value: "7d", name: "Last 7 days", days: (today) => lastDays(today, 7) },
  { value: "30d", name: "Last 30 days", days: (today) => lastDays(today, 30) },
  { value: "month", name: "This month", days: (today) => ({ start: startOfMonth(today), end: today }) },
  { value: "last-month", name: "Last month", days: (today) => wholeMonth(startOfMonth(today).subtract({ months: 1 })) },
];

const lastDays = (end: CalendarDate, number: number): Days => ({ start: end.subtract({ days: number - 1 }), end });
const wholeMonth = (start: CalendarDate): Days => ({ start, end: start.add({ months: 1 }).subtract({ days: 1 }) });

/** The days of a value from the address; `null` if it is empty or names no range. */
export function daysOf(value: string, today: string): Days | null {
  const preset = presets.find((one) => one.value === value);
  if (preset) return preset.days(parseDate(today));
  const [, first, last] = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/.exec(value) ?? [];
  if (!first || !last) return null;
  try {
    const [start, end] = [parseDate(first), parseDate(last)];
    return start.compare(end) > 0 ? null : { start, end };
  } catch {
    // A day that no month has.
    return null;
  }
}

/** The value of a range of one's own choice: "2026-03-01..2026-03-31". */
export const valueOf = ({ start, end }: Days): string => `${start.toString()}..${end.toString()}`;

/** The number of days. */
export const lengthOf = ({ start, end }: Days): number => end.compare(start) + 1;

/**
 * The parameters of the service for a value: from the first midnight to the midnight after the last
 * day, which no longer belongs to it. None for a value without a range.
 */
export function boundsOf(value: string, today: string, zone = getLocalTimeZone()): { since?: string; until?: string } {
  const days = daysOf(value, today);
  if (!days) return {};
  return { since: midnight(days.start, zone), until: midnight(days.end.add({ days: 1 }), zone) };
}

const midnight = (day: CalendarDate, zone: string) => day.toDate(zone).toISOString();

const medium = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/** A day of the picker, which may have a time. */
export const toDay = (value: DateValue): CalendarDate => toCalendarDate(value);

/** A day as text: "3 Feb 2026". */
export const dayWords = (day: CalendarDate): string => medium.format(day.toDate("UTC"));

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** A typed day: "3 Feb 2026", "3.2.2026", "3/2/2026" or "2026-02-03"; `null` if it is none. */
export function parseDay(text: string): CalendarDate | null {
  const typed = text.trim().toLowerCase();
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(typed);
  const [, day, month, year] =
    (iso ? [iso[0], iso[3], iso[2], iso[1]] : /^(\d{1,2})[./ ]+(\d{1,2}|[a-z]{3,9})[./ ]+(\d{4})$/.exec(typed)) ?? [];
  if (!day || !month || !year) return null;
  const number = /^\d/.test(month) ? Number(month) : months.indexOf(month.slice(0, 3)) + 1;
  const found = new CalendarDate(Number(year), number, Number(day));
  // A day that no month has becomes the nearest one.
  return found.day === Number(day) && found.month === number ? found : null;
}

/** A range as text: "Last 7 days", "1–31 Mar 2026". */
export function datesWords(value: string): string {
  const preset = presets.find((one) => one.value === value);
  if (preset) return preset.name;
  const days = daysOf(value, "2000-01-01");
  return days ? medium.formatRange(days.start.toDate("UTC"), days.end.toDate("UTC")) : "";
}
