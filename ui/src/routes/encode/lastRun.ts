// The initial values of a new run, from the last one on this computer, and default names for empty
// fields.

import { kept } from "../../lib/window/kept";
import { newForm, type EncodingForm } from "../../lib/encoding/encodingForm";

export interface RunForm {
  name: string;
  source: "pattern" | "experience" | "csv";
  planned: number | string | null;
  pattern: string;
  experience: string;
  form: EncodingForm;
}

interface Last extends Omit<RunForm, "name" | "pattern"> {
  pattern: string;
  /** The experience of the pattern, because another product needs other names. */
  patternOf: string;
}

const memory = kept<{ last: Last | null }>("last-run", { last: null });

/**
 * A new run starts with the values of the last one. A lock and a switch to LRP mode are permanent,
 * so they have to be chosen again.
 */
export function newRun(): RunForm {
  const { last } = memory.load();
  const blank: RunForm = { name: "", source: "pattern", planned: 50, pattern: "", experience: "", form: newForm() };
  if (last === null) return blank;
  const { source, planned, experience, form } = last;
  return { ...blank, source, planned, experience, form: { ...newForm(), ...form, lock: false, lrp: false } };
}

export function keepRun({ source, planned, experience, form }: RunForm, pattern: string): void {
  memory.save({ last: { source, planned, experience, form, pattern, patternOf: experience } });
}

/**
 * The pattern of a run whose field is empty: that of the last run of the same experience, or the
 * experience's name.
 */
export function patternFor(experience: string, name: string): string {
  const { last } = memory.load();
  if (last !== null && last.pattern !== "" && last.patternOf === experience) return last.pattern;
  return `${(name || "Tag").slice(0, 180)} {n:04}`;
}

/** The name of a run whose field is empty. */
export function nameFor(experience: string, at: Date): string {
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long" }).format(at);
  return experience === "" ? `Run of ${day}` : `${experience.slice(0, 180)}, ${day}`;
}
