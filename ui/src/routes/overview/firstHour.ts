// The first hour: what there is to do from an empty database on. A step is done once what it
// asks for has happened, and stays done.

import type { Experience, Tag } from "../../lib/api/types";
import type { Screen } from "../../lib/frame/router.svelte";

/** What is there. The demo data is nobody's work, and no fact. */
export interface Facts {
  experiences: number;
  /** Tags that lead to an experience. */
  tags: number;
  taps: number;
  verified: number;
  readers: number;
  inlays: number;
  /** Whether phones can reach the tag URL. */
  reachable: boolean;
}

export interface Step {
  key: string;
  text: string;
  screen: Screen;
  selected?: string;
  done: (facts: Facts) => boolean;
}

export const steps: Step[] = [
  {
    key: "experience",
    text: "Create an experience: the page that a tap opens",
    screen: "experiences",
    done: ({ experiences }) => experiences > 0,
  },
  { key: "tag", text: "Create a tag, and assign the experience to it", screen: "tags", done: ({ tags }) => tags > 0 },
  { key: "tap", text: "Tap it, or tap a virtual inlay first", screen: "simulator", done: ({ taps }) => taps > 0 },
  { key: "verified", text: "See a tap verified", screen: "interactions", done: ({ verified }) => verified > 0 },
  { key: "reader", text: "Connect an NFC reader", screen: "reader", selected: "doctor", done: ({ readers }) => readers > 0 },
  { key: "inlay", text: "Encode an inlay, or add those you have", screen: "encode", done: ({ inlays }) => inlays > 0 },
  {
    key: "phones",
    text: "Invite phones: set the public base URL",
    screen: "settings",
    selected: "service",
    done: ({ reachable }) => reachable,
  },
];

/** What an owner made, of a page of experiences and of tags. */
export const ownWork = (
  experiences: readonly Pick<Experience, "name">[],
  tags: readonly Pick<Tag, "experience_id" | "simulated">[],
): Pick<Facts, "experiences" | "tags"> => ({
  experiences: experiences.filter(({ name }) => !name.endsWith("(demo)")).length,
  tags: tags.filter(({ experience_id, simulated }) => experience_id !== null && !simulated).length,
});

/** The keys of all steps that are done: those of before, and those that the facts show. */
export const doneBy = (facts: Facts, before: readonly string[]): string[] =>
  steps.filter((step) => before.includes(step.key) || step.done(facts)).map(({ key }) => key);
