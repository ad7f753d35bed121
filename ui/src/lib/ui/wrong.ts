// What the service refuses, at the fields that it is about. What no field of a form shows is
// said for the whole form: nothing that was refused goes unsaid.

import { wordsOf } from "../api/problem";
import { Problem } from "../api/client";

export interface Wrong {
  /** What is wrong with a field, by the name that the form has for it. */
  fields: Record<string, string>;
  /** What no field shows. */
  general: string | null;
}

/** The service's name of a field may be deeper than the form's ("location.lat") or lead into it ("rules[1].target_url"). */
function shownAs(field: string, shown: readonly string[]): string | undefined {
  return (
    shown.find((name) => field === name) ??
    shown.find((name) => field.endsWith(`.${name}`)) ??
    shown.find((name) => field.startsWith(`${name}[`) || field.startsWith(`${name}.`) || field.includes(`.${name}[`))
  );
}

/** Sorts out what is wrong; `shown` are the fields that show it themselves. */
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
