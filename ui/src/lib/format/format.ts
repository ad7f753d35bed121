// Formats of numbers and times.

import { present } from "./now.svelte";

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

/** The time since `at`, in the largest unit that fits. Moments up to seconds ahead are "now". */
export function ago(at: string, now = present()): string {
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

/**
 * A duration, with as many digits as a person notices: "1.2 ms", "340 ms", "3.4 s", "1 min 15 s".
 * Null if it was not measured, so that no screen shows a wrong time.
 */
export function lasted(milliseconds: number | null | undefined): string | null {
  if (!Number.isFinite(milliseconds)) return null;
  const ms = Math.max(0, milliseconds ?? 0);
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The remaining time below which it is not shown. */
const LEAST_LEFT = 5_000;

/**
 * The remaining time of work at its present rate: ", 3 min left". Empty before anything is done,
 * and near its end. `begun` is in milliseconds, like `present()`.
 */
export function timeLeft(begun: number, done: number, total: number, now = present()): string {
  const left = done > 0 ? ((now - begun) / done) * (total - done) : 0;
  return left < LEAST_LEFT ? "" : `, ${duration(left)} left`;
}

/** A duration in its largest units: "42 s", "3 min", "1 h 20 min". */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 > 0 ? ` ${minutes % 60} min` : ""}`;
}

/** A UID with its middle left out: "04DE…C040". */
export const shortUid = (uid: string) => (uid.length > 10 ? `${uid.slice(0, 4)}…${uid.slice(-4)}` : uid);

/** The name of a file with a photo of staff: the service stores each as PNG or JPEG. */
export const photoFile = (name: string, type: string | undefined) => `${name}.${type === "image/png" ? "png" : "jpg"}`;

/** The Base64 of a rolling key, in the form that clients send. */
export const base64 = (text: string) => btoa(text);
