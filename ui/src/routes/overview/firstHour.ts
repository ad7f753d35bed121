// The first hour: the tasks from an empty database on. A step is done once its event has happened,
// and stays done.

import type { Experience } from "../../lib/api/types";
import type { Screen } from "../../lib/window/router.svelte";

/** The present state. Demo data does not count, because no person created it. */
export interface Facts {
  experiences: number;
  verified: number;
  groups: number;
  readers: number;
  inlays: number;
  /** Whether the address in chips' URLs is proved. */
  reachable: boolean;
}

export interface Step {
  key: string;
  text: string;
  /** The button of the step, if it is the next one; the address has its own card. */
  action: string | null;
  screen: Screen;
  selected?: string;
  query?: Record<string, string>;
  /** Another way to the same result. */
  or?: { text: string; screen: Screen };
  done: (facts: Facts) => boolean;
}

/** In the order from an empty database to a chip that a phone verifies, and then to many. */
export const steps: Step[] = [
  {
    key: "phones",
    text: "Choose where phones reach you",
    action: null,
    screen: "settings",
    selected: "service",
    done: ({ reachable }) => reachable,
  },
  {
    key: "experience",
    text: "Create an experience: the page that a tap opens",
    action: "Create experience",
    screen: "experiences",
    query: { new: "experience" },
    done: ({ experiences }) => experiences > 0,
  },
  {
    key: "reader",
    text: "Connect an NFC reader",
    action: "Open reader doctor",
    screen: "reader",
    selected: "doctor",
    done: ({ readers }) => readers > 0,
  },
  {
    key: "inlay",
    text: "Encode inlays: a run creates a tag for each",
    action: "Create run",
    screen: "encode",
    query: { new: "run" },
    or: { text: "Or move in with chips of another service", screen: "move" },
    done: ({ inlays }) => inlays > 0,
  },
  {
    key: "verified",
    text: "Tap one with a phone, and see it verified",
    action: "Open interactions",
    screen: "interactions",
    done: ({ verified }) => verified > 0,
  },
  {
    key: "product",
    text: "Create a product: it gives its tags their page and texts",
    action: "New product",
    screen: "tags",
    query: { new: "product" },
    done: ({ groups }) => groups > 0,
  },
];

/** The number of experiences on a page of the list that an owner created. */
export const ownExperiences = (experiences: readonly Pick<Experience, "name">[]): number =>
  experiences.filter(({ name }) => !name.endsWith("(demo)")).length;

/** The keys of all steps that are done: earlier ones, and those that the present state shows. */
export const doneBy = (facts: Facts, before: readonly string[]): string[] =>
  steps.filter((step) => before.includes(step.key) || step.done(facts)).map(({ key }) => key);
