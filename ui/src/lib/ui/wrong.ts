// The service's errors, sorted by field. Errors that no field shows are shown for the whole form,
// so that none is hidden.

import { wordsOf } from "../api/problem";
import { Problem } from "../api/client";

export interface Wrong {
  /** Errors by the form's name of a field. */
  fields: Record<string, string>;
  /** The error that no field shows. */
  general: string | null;
}

/**
 * The form's field for a field of the service, whose name may be deeper ("location.lat") or lead
 * into the form's field ("rules[1].target_url").
 */
function shownAs(field: string, shown: readonly string[]): string | undefined {
  return (
    shown.find((name) => field === name) ??
    shown.find((name) => field.endsWith(`.${name}`)) ??
    shown.find((name) => field.startsWith(`${name}[`) || field.startsWith(`${name}.`) || field.includes(`.${name}[`))
  );
}

/** Sorts errors; `shown` are the fields that show their own errors. */
export function wrongOf(error: unknown, shown: readonly string[]): Wrong {
  const whole = wordsOf(error);
  if (!(error instanceof Problem) || error.errors.length === 0) return { fields: {}, general: whole };
  const fields: Record<string, string> = {};
  const others: string[] = [];
  for (const { field, message } of error.errors) {
    const name = shownAs(field, shown);
    if (name === undefined) others.push(message);
    else fields[name] = fields[name] === undefined ? message : `${fields[name]} ${message}`;
  }
  return { fields, general: others.length > 0 ? others.join(" ") : null };
}

/** Errors by the service's own names: "rules[1]" is the second rule. */
export function placesOf(error: unknown): Record<string, string> {
  if (!(error instanceof Problem)) return {};
  return Object.fromEntries(error.errors.flatMap(({ field, message }) => (field ? [[field, message]] : [])));
}
