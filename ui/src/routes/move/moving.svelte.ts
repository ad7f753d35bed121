// The progress of a move, which the window keeps over restarts. Keys are no part of it.

import { perConnection } from "../../lib/api/connection.svelte";
import type { UrlTemplate } from "../../lib/api/types";
import { templates } from "../../lib/inlays/templates";
import { kept } from "../../lib/window/kept";
import { inlayImport } from "./inlayImport.svelte";
import { nextAfter, type StepKey } from "./steps";

/** Chips of one format of URLs, with the source of their keys. */
interface Reel {
  template: number;
  /** The master key that was found with the format; `null` if there is none. */
  master: number | null;
}

export interface Progress {
  /** The name of the preset of the former service; empty until it is chosen. */
  source: string;
  reels: Reel[];
  /** The step that was shown last. */
  step: StepKey;
  /** The steps that the person has finished. */
  passed: StepKey[];
  /** The tasks that the person has ticked, each with its host. */
  ticked: string[];
}

const none: Progress = { source: "", reels: [], step: "service", passed: [], ticked: [] };

class Moving {
  readonly #memory = kept<Progress>("move", none);
  #now = $state.raw<Progress>(this.#memory.load());

  get now(): Readonly<Progress> {
    return this.#now;
  }

  /** Whether there is progress that a person would miss. */
  get begun(): boolean {
    return this.#now.source !== "" || this.#now.reels.length > 0;
  }

  /** The templates of the reels; one that was deleted in the meantime is left out. */
  get reels(): UrlTemplate[] {
    return this.#now.reels.flatMap(({ template }) => templates.find(template) ?? []);
  }

  change(changes: Partial<Progress>): void {
    this.#now = { ...this.#now, ...changes };
    this.#memory.save(this.#now);
  }

  add(template: number, master: number | null = null): void {
    const others = this.#now.reels.filter((reel) => reel.template !== template);
    const known = this.#now.reels.find((reel) => reel.template === template);
    if (known && master === null) return;
    this.change({ reels: [...others, { template, master }] });
  }

  remove(template: number): void {
    this.change({ reels: this.#now.reels.filter((reel) => reel.template !== template) });
  }

  /** The master key of a reel, as the value of a choice; empty if there is none. */
  masterOf(template: number): string {
    return String(this.#now.reels.find((reel) => reel.template === template)?.master ?? "");
  }

  isTicked(task: string): boolean {
    return this.#now.ticked.includes(task);
  }

  tick(task: string, ticked: boolean): void {
    const others = this.#now.ticked.filter((one) => one !== task);
    this.change({ ticked: ticked ? [...others, task] : others });
  }

  /** Notes that a step is finished; returns the next one. */
  pass(step: StepKey): StepKey {
    this.change({ passed: [...new Set([...this.#now.passed, step])] });
    return nextAfter(step);
  }

  /** Forgets the progress and the table. Returns the progress, so that this can be undone. */
  startOver(): Progress {
    const before = this.#now;
    const run = inlayImport.own;
    if (!run.busy) run.clear();
    this.change(none);
    return before;
  }
}

export const moving = perConnection(() => new Moving());
