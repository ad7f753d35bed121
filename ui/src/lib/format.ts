// Formats of numbers and times.

const numbers = new Intl.NumberFormat("en");
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** A count with separators. */
export const count = (value: number) => numbers.format(value);

/** A count with its noun: "1 tag", "1,204 tags". */
export const counted = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** The verb or word that agrees with a count: "leads" for one, "lead" for others. */
export const agreeing = (value: number, one: string, many: string) => (value === 1 ? one : many);

/** The exact moment, for a hover. */
export const moment = (at: string) => exact.format(new Date(at));

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** The time since `at`, in the largest unit that fits. Moments up to seconds ahead are "now": the service's clock may differ. */
export function ago(at: string, now = Date.now()): string {
  const past = now - new Date(at).getTime();
  for (const [unit, length] of steps) {
    if (Math.abs(past) >= length) return relative.format(-Math.round(past / length), unit);
  }
  return past < 5_000 ? "now" : `${Math.round(past / 1000)} s ago`;
}

/** Minutes and seconds of a countdown: "4:12". */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A UID with its middle left out: "04DE…C040". */
export const shortUid = (uid: string) => (uid.length > 10 ? `${uid.slice(0, 4)}…${uid.slice(-4)}` : uid);

/** Base64 of a rolling key, as clients send it. */
export const base64 = (text: string) => btoa(text);
