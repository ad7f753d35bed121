// One encoding at a time on each reader: what is under way, and how it ended.

import { mayWrite } from "../api/client";
import { encodeInlay, type EncodingProgress } from "../shell/desktop";
import { failed, outcomeOf, type Outcome } from "./encodings";
import { switchedSince } from "../shell/connection.svelte";
import { readers } from "./readers.svelte";
import { play } from "../ui/sound";

export class Encoder {
  /** The step that is under way; null while nothing is. */
  progress = $state.raw<EncodingProgress | null>(null);
  /** How the last insertion ended. */
  outcome = $state.raw<Outcome | null>(null);
  /** The insertion that `outcome` is about. */
  insertion = $state<number | null>(null);
  /** How long it took, in milliseconds. */
  took = $state<number | null>(null);
  working = $state(false);
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * Encodes the inlay of an insertion, once the one before is over: an inlay that is placed again at
   * once may be seen before that is told. The outcome is shown before it is heard.
   */
  encode(insertion: number, target: Record<string, unknown>): Promise<Outcome> {
    const switched = switchedSince();
    const turn = this.#turn.then(() => this.#encode(insertion, target, switched));
    this.#turn = turn;
    return turn;
  }

  async #encode(insertion: number, target: Record<string, unknown>, switched: () => boolean): Promise<Outcome> {
    const began = performance.now();
    this.insertion = insertion;
    this.outcome = null;
    this.working = true;
    let outcome: Outcome;
    try {
      if (!(await mayWrite())) throw new Error("Nothing was changed.");
      if (switched()) throw new Error("The connection changed. The inlay was not encoded.");
      const reader = readers.readerOf(insertion);
      if (reader === null) throw new Error("The inlay was removed too early. Place it on the reader again.");
      outcome = outcomeOf(await encodeInlay(reader, insertion, target, (progress) => (this.progress = progress)));
    } catch (error) {
      outcome = failed(error instanceof Error ? error.message : String(error));
    }
    this.took = Math.round(performance.now() - began);
    this.working = false;
    this.progress = null;
    this.outcome = outcome;
    play(outcome.tone);
    return outcome;
  }

  clear(): void {
    this.outcome = this.insertion = this.took = null;
  }
}
