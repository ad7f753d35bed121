// The hosts that experiences lead to, for the owner to allow them at once.

import type { Experience } from "../../../lib/api/types";

const MACRO = /\{\{.*?\}\}/g;

/** The host of a redirect's target; none where a macro decides it. */
export function hostOf(target: string): string | null {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(target.trim())?.[1];
  if (!authority || /[{}@]/.test(authority)) return null;
  try {
    return new URL(target.replace(MACRO, "x")).host || null;
  } catch {
    return null;
  }
}

/** Where an experience may lead: by its rules, and otherwise. */
export function targets(experience: Experience): string[] {
  if (experience.kind !== "redirect") return [];
  // The service leaves out a list of rules that is empty.
  return [...(experience.rules ?? []).map((rule) => rule.target_url), experience.target_url];
}

/** Hosts as they stand in the field, one a line, with others that are not there yet. */
export function withHosts(field: string, targets: readonly string[]): string {
  const known = field.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const others = targets.map(hostOf).filter((host): host is string => host !== null);
  return [...new Set([...known, ...others])].join("\n");
}
