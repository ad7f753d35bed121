// The hosts of experiences, which the owner can allow with one click.

import type { Experience } from "../../../lib/api/types";

const MACRO = /\{\{.*?\}\}/g;

/** The host of a redirect's target; `null` if it contains a macro. */
export function hostOf(target: string): string | null {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(target.trim())?.[1];
  if (!authority || /[{}@]/.test(authority)) return null;
  try {
    return new URL(target.replace(MACRO, "x")).host || null;
  } catch {
    return null;
  }
}

/** All destination URLs of an experience. */
export function targets(experience: Experience): string[] {
  if (experience.kind !== "redirect") return [];
  // The service leaves out an empty list of rules.
  return [...(experience.rules ?? []).map((rule) => rule.target_url), experience.target_url];
}

/** The lines of the field, with the hosts of `targets` that it does not contain yet. */
export function withHosts(field: string, targets: readonly string[]): string {
  const known = field
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const others = targets.map(hostOf).filter((host): host is string => host !== null);
  return [...new Set([...known, ...others])].join("\n");
}
