// A run as a file.

import { words, type Action } from "./run";

interface Scenario {
  tapdesk_scenario: 1;
  steps: Action[];
}

/** The file of a run. */
export function writeScenario(steps: Action[]): Uint8Array<ArrayBuffer> {
  const scenario: Scenario = { tapdesk_scenario: 1, steps };
  return new TextEncoder().encode(JSON.stringify(scenario, null, 2)) as Uint8Array<ArrayBuffer>;
}

/** A scenario file's steps, or why it is none. */
export function readScenario(text: string): Action[] {
  let found: Partial<Scenario> | null;
  try {
    found = JSON.parse(text) as Partial<Scenario> | null;
  } catch {
    throw new Error("The file is not a scenario: it is not JSON.");
  }
  if (found?.tapdesk_scenario !== 1 || !Array.isArray(found.steps)) {
    throw new Error("The file is not a scenario that was saved here.");
  }
  if (!found.steps.every(isAction)) throw new Error("The scenario has a step that this version does not know.");
  return found.steps;
}

function isAction(step: unknown): step is Action {
  if (typeof step !== "object" || step === null) return false;
  const { do: what, ms, key, value } = step as Record<string, unknown>;
  if (typeof what !== "string" || !Object.hasOwn(words, what)) return false;
  if (what === "advance") return typeof ms === "number" && ms >= 0;
  return !what.startsWith("update") || (typeof key === "string" && typeof value === "string");
}
