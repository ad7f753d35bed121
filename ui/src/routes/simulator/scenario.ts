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

/** The steps of a scenario file; throws a message for people if the file is invalid. */
export function readScenario(text: string): Action[] {
  let found: Partial<Scenario> | null;
  try {
    found = JSON.parse(text) as Partial<Scenario> | null;
  } catch {
    throw new Error("The file is not a scenario: it is not JSON.");
  }
  if (found?.tapdesk_scenario !== 1 || !Array.isArray(found.steps)) {
    throw new Error("The file is not a scenario of Tapdesk.");
  }
  if (!found.steps.every(isAction)) throw new Error("The scenario contains an unknown step.");
  return found.steps;
}

function isAction(step: unknown): step is Action {
  if (typeof step !== "object" || step === null) return false;
  const { do: name, ms, key, value } = step as Record<string, unknown>;
  if (typeof name !== "string" || !Object.hasOwn(words, name)) return false;
  if (name === "advance") return typeof ms === "number" && ms >= 0;
  return !name.startsWith("update") || (typeof key === "string" && typeof value === "string");
}
